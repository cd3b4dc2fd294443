"""AMQP 1.0 as the runner needs it: how it is probed, and its oracles."""
