"""Certificates: the results of a run against a target, with counts that add up and a hash over all evidence."""
