"""The peer of the 0-9 family: the client side for cases of dialects with classes of methods."""
