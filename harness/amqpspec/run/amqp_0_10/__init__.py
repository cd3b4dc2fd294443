"""AMQP 0-10 as the runner needs it."""
