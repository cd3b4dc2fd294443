"""AMQP/Fast as the runner needs it: how it is probed, and its oracles."""
