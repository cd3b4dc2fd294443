"""Cases, oracles, verdicts and the runner."""
