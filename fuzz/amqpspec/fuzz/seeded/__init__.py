"""A broker with planted defects, and how well they are found."""
