"""Reports of runs and campaigns: HTML, JUnit, Markdown, JSON, SARIF, a badge, and the pipeline over many runs."""
