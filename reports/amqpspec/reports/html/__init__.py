"""The matrix: one HTML file that needs nothing else, for one run or several.

Knows: how to write the page.
Must not know: where runs come from.
"""

from __future__ import annotations

from amqpspec.reports.html.page import Evidence, write_matrix

__all__ = ["Evidence", "write_matrix"]
