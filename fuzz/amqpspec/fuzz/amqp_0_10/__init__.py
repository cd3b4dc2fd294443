"""The fuzzer for AMQP 0-10."""
