"""Static pages over many runs, made of marts: an index, a page for each target, and what differs between them.

Knows: how to write the folder.
Must not know: Spark, the lake.
"""

from __future__ import annotations

from amqpspec.reports.site.folder import write_site

__all__ = ["write_site"]
