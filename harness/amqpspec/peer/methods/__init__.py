"""The peer of the 0-9 family: what a case drives where classes of methods are spoken."""
