"""What runs and campaigns came to: HTML, JUnit, Markdown, JSON, SARIF, a badge, and the pipeline over many of them."""
