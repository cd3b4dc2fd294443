"""The hook of mkdocs: adds the generated pages.

Knows: mkdocs. Must not know: what is on a page.
"""

from __future__ import annotations

import commands
import guide
import ledgers
import notebook
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the section of the dialects."""
    for entry in config.nav or ():
        if "Dialects" in entry:
            entry["Dialects"] = [
                "dialects/index.md",
                *({name: path} for name, path in ledgers.contents().items()),
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README's sections, the other documents of the root, the ledgers, the commands and the notebook."""
    for path, text in (guide.pages() | ledgers.pages() | commands.pages() | notebook.pages()).items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links that lead out of the documentation by their text."""
    return guide.without_foreign_links(text, page.file.src_uri)
