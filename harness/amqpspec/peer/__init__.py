"""The client side that cases use: one or more connections to the target."""
