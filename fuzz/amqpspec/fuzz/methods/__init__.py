"""The fuzzer for the 0-9 family."""
