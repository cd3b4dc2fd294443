"""The fuzzer for AMQP/Fast."""
