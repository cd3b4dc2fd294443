"""Who may import whom: no cycles anywhere, and nothing neutral leads to a family of dialects."""

from __future__ import annotations

import re

from tests.imports import cycles, graph_of, import_graph, reached

ROOMS = re.compile(r"amqpspec\.(wire|peer|run|reference|fuzz)\.(methods|amqp_\w+|commands)\.")
"""What belongs to one family of dialects."""

AREAS = ("spec", "wire", "peer", "net", "record", "reference", "target", "run")


def neutral() -> list[str]:
    """Modules that belong to no family; a test asks for them, not the collection of tests."""
    return [name for name in sorted(import_graph()) if name.split(".")[1] in AREAS and not ROOMS.match(name)]


def test_no_module_imports_itself_by_a_detour() -> None:
    found = cycles(import_graph())
    assert not found, "\n".join(" ↔ ".join(group) for group in found)


def test_nothing_neutral_leads_to_a_family() -> None:
    leading = {module: [*filter(ROOMS.match, reached(import_graph(), module))] for module in neutral()}
    assert leading, "no module is neutral"
    assert not {module: names for module, names in leading.items() if names}


def test_the_graph_holds_every_root() -> None:
    areas = {name.split(".")[1] for name in import_graph()}
    assert areas >= {"spec", "wire", "peer", "net", "record", "run", "cli", "suites", "fuzz", "reports"}
    assert {"amqpspec.peer.line", "amqpspec.wire.framing"} <= {*neutral()}


def test_type_checking_lazy_and_relative_imports_count() -> None:
    graph = graph_of(
        {
            "a.__init__": "",
            "a.one": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import two\n",
            "a.two": "def f():\n    from .three import x\n",
            "a.three": "import a.one\nimport os\n",
            "a.four": "from a.three import x, y\nfrom a import *\n",
        }
    )
    assert graph == {
        "a.__init__": frozenset(), "a.one": {"a.two"}, "a.two": {"a.three"}, "a.three": {"a.one"},
        "a.four": {"a.three", "a.__init__"},
    }  # fmt: skip
    assert cycles(graph) == [["a.one", "a.three", "a.two"]]
    assert reached(graph, "a.four") == {"a.three", "a.one", "a.two", "a.__init__"}
