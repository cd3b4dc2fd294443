"""What the ledger expects of a target for octets sent in a state."""
