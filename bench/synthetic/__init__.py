"""Observations that no one made, to measure and to test the pipeline with; no part of what is installed.

``bench/pipeline.py`` makes lakes of millions of rows here, tests/pipeline small ones. ``observations`` makes the rows,
``lake`` writes them as a lake or as the folder of a campaign.
"""
