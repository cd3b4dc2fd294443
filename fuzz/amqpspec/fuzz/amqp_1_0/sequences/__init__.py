"""Sequences of AMQP 1.0: steps over connections and links, and the model that says what they may lead to."""
