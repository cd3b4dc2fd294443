"""The 0-9 family as the runner needs it: how it is probed, and its oracles."""
