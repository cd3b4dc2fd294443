"""Reads JSON and YAML from other sources: input that is nested too deeply or too large is a normal error.

Knows: parsers and their limits. Must not know: the purpose of a file.
"""

from __future__ import annotations

import json
from typing import Any

import yaml

MAX_YAML_CHARACTERS = 2 << 20
"""A parser in Python needs seconds for a megabyte; our largest baseline has a thirtieth of this."""
_TOO_DEEP = "nested too deeply"


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def parse_yaml(text: str) -> Any:
    """The value of a YAML text; raises yaml.YAMLError."""
    node = compose_yaml(text)
    try:
        return None if node is None else yaml.constructor.SafeConstructor().construct_document(node)
    except RecursionError:
        raise yaml.YAMLError(_TOO_DEEP) from None


def compose_yaml(text: str) -> yaml.Node | None:
    """The nodes of a YAML text, with their lines; raises yaml.YAMLError."""
    if len(text) > MAX_YAML_CHARACTERS:
        raise yaml.YAMLError(f"expected at most {MAX_YAML_CHARACTERS} characters, actual {len(text)}")
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise yaml.YAMLError(_TOO_DEEP) from None
