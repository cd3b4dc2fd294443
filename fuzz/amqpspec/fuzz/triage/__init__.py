"""From a suspicion to a finding: whom to blame, how small it can be, what is written down."""
