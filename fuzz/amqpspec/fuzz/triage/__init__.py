"""From a suspicion to a finding: which input to blame, how small it can be, what is written to disk."""
