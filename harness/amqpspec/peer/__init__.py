"""What a case drives: one or more connections to the target."""
