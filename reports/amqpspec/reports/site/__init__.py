"""Static pages about many runs, generated from marts: an index, a page for each target, and the differences between
targets.
"""
