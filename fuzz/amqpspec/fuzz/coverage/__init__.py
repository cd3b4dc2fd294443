"""What code of the target has run, where the target can say so: an optional guide of random mutation."""
