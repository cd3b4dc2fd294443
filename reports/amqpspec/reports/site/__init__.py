"""Static pages over many runs, made of marts: an index, a page for each target, and what differs between them."""
