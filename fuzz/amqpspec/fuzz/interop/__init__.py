"""The grammar and the states for other people's tools, and their recordings for ours."""
