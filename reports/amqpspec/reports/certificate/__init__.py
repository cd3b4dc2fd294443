"""Certificates: what a run says of a target, with counts that add up and a hash over all of its evidence."""
