"""The fuzzer for AMQP 1.0."""
