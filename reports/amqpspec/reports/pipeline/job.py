"""The build as a job of ``spark-submit``: ``spark-submit --py-files amqpspec.zip job.py --lake LAKE --out MARTS``.

Knows: arguments. Must not know: what is built.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import date
from pathlib import Path


def main(arguments: Sequence[str]) -> None:
    """Build marts within the session that ``spark-submit`` has begun."""
    from amqpspec.reports.pipeline.build import build
    from amqpspec.reports.pipeline.lake import open_lake
    from amqpspec.reports.pipeline.session import session

    parser = ArgumentParser(description="Make rollups and marts of a lake.")
    parser.add_argument("--lake", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--as-of", type=date.fromisoformat)
    given = parser.parse_args(arguments)
    with session() as spark:
        made = build(spark, open_lake(given.lake), given.out, given.as_of)
    print(f"{given.out}: {', '.join(f'{name} {rows}' for name, rows in made.marts.items())}")


if __name__ == "__main__":
    main(sys.argv[1:])
