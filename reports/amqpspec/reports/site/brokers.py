"""A product over all of its targets and versions, dialect by dialect.

Knows: sheets, rules. Must not know: HTML, geometry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from amqpspec.reports.outcomes import level_place
from amqpspec.reports.site.model import Sheet, Version, version_order
from amqpspec.reports.site.rules import History, Rule, State, Turn, turns


@dataclass(frozen=True, slots=True)
class Part:
    """A product in one dialect: its versions with the newest first, and the changes between them."""

    dialect: str
    versions: tuple[tuple[Sheet, Version], ...]
    turns: tuple[Turn, ...]
    violated: tuple[tuple[Rule, History], ...]

    @property
    def newest(self) -> list[Sheet]:
        """Each target with verdicts, ordered by the version in which it was last seen."""
        return [sheet for sheet, version in reversed(self.versions) if version.newest and sheet.verdicts]


def parts(product: str, sheets: Iterable[Sheet], by_dialect: Mapping[str, Sequence[Rule]]) -> list[Part]:
    """The known facts about the product of these sheets' targets."""
    own: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        own.setdefault(sheet.dialect, []).append(sheet)
    return [_part(product, dialect, of, by_dialect.get(dialect, ())) for dialect, of in sorted(own.items())]


def _part(product: str, dialect: str, sheets: Sequence[Sheet], rules: Sequence[Rule]) -> Part:
    versions = [(sheet, version) for sheet in sheets for version in sheet.versions]
    versions.sort(key=lambda each: (version_order(each[1].name), each[0].target), reverse=True)
    violated = [
        (rule, history)
        for rule in rules
        for history in rule.histories
        if history.product == product and history.now.state is State.VIOLATED
    ]
    violated.sort(key=lambda each: (level_place(each[0].level), each[0].id))
    return Part(dialect, tuple(versions), tuple(turns(rules, product)), tuple(violated))
