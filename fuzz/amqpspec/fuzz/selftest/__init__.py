"""Self-test material: reference brokers with a planted defect, and how well defects are found."""
