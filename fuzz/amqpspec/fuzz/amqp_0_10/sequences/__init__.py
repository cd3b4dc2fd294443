"""Sequences of AMQP 0-10: steps over connections and sessions, and the model that says what they may lead to."""
