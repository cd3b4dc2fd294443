"""The marts: the declaration of their rows, and readers for a folder of marts."""
