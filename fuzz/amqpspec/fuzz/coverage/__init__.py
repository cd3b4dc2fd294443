"""Code coverage of the target, if the target can report it: an optional guide of random mutation."""
