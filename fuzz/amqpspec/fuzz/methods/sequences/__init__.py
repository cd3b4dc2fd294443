"""Sequences of the 0-9 family: steps over connections and channels, and the model that says what they may lead to."""
