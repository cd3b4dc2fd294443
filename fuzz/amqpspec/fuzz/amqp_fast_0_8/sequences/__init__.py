"""Sequences of AMQP/Fast: steps over channels and handles, and the model that says what they may lead to."""
