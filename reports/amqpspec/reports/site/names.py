"""Addresses of pages: an address depends only on the name of the page's subject.

Knows: which names are safe for files. Must not know: the contents of pages.
"""

from __future__ import annotations

import re
from hashlib import blake2b

_LONGEST = 60
_PLAIN_ID = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-]+)*")
_PLAIN_CASE = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_LONGEST_ID = 150
_PRODUCT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}")


def page_name(target: str) -> str:
    """The file of a target's page; a name with other characters gets digits that make it unique."""
    return f"target-{_word(target)}.html"


def broker_page(product: str) -> str:
    """The file of a product's page; names that differ only in case and punctuation belong to one product."""
    return f"broker-{product_key(product)}.html"


def product_key(product: str) -> str:
    """The normalized name of a product: ``rabbitmq`` for ``RabbitMQ``."""
    return anchor(product) if _PRODUCT.fullmatch(product) else _word(product)


def matrix_page(dialect: str) -> str:
    """The file of a dialect's matrix."""
    return f"matrix-{_word(dialect)}.html"


def requirement_page(dialect: str, id: str) -> str:
    """The file of a requirement's page; its anchor in the matrix is this name without folder and suffix."""
    return f"requirements/{_word(dialect)}/{requirement_anchor(id)}.html"


def requirement_anchor(id: str) -> str:
    """The anchor of a requirement in the matrix."""
    return _whole(id, _PLAIN_ID).replace("/", ".")


def case_page(dialect: str, case: str) -> str:
    """The file of the page about one case on which targets differ."""
    return f"differences/{_word(dialect)}/case.{_whole(case, _PLAIN_CASE)}.html"


def vector_page(dialect: str, kind: str, vector: str) -> str:
    """The file of the page about one combination of targets and reactions."""
    return f"differences/{_word(dialect)}/{_word(kind)}.{_word(vector)}.html"


def root_of(page: str) -> str:
    """The relative path from a page to the site's folder."""
    return "../" * page.count("/")


def anchor(text: str) -> str:
    """An anchor for a name on a page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _word(text: str) -> str:
    plain = anchor(text)[:_LONGEST]
    return plain if plain == text else f"{plain}-{_digits(text)}"


def _whole(text: str, plain: re.Pattern[str]) -> str:
    if plain.fullmatch(text) and len(text) <= _LONGEST_ID:
        return text
    return f"{anchor(text)[:_LONGEST]}-{_digits(text)}"


def _digits(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
