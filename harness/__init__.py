"""The harness: everything that talks AMQP or records what was said."""
