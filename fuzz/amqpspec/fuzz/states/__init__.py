"""Ways into states of a conversation, ways back, and what may legally follow."""
