"""Real brokers."""
