"""The site: these pages as HTML that needs nothing from the web. `make docs` builds it; any warning fails the build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.shell import BashSessionLexer
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+)([^)#\s]+)\)")

project = "Clew"
html_title = "Clew"
extensions = ["myst_parser"]
myst_heading_anchors = 3
nitpicky = True
smartquotes = False  # an option is written --store, not –store
suppress_warnings = [
    "misc.highlighting_failure"
]  # the examples of json.md have "…" where something is left out

html_theme = "furo"
html_theme_options = {
    "footer_icons": [],
    "light_css_variables": {
        "color-brand-primary": "#0b6468",
        "color-brand-content": "#0b6468",
        "color-brand-visited": "#0b6468",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6fcfc9",
        "color-brand-content": "#6fcfc9",
        "color-brand-visited": "#6fcfc9",
    },
}
html_static_path = ["_static"]
html_css_files = ["clew.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


class Session(BashSessionLexer):  # type: ignore[misc]  # Pygments has no types
    """Commands after "$ " and nothing else: a line that begins with "#" is what a command printed."""

    name = "Session"
    aliases = ("session",)
    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")


def told(page: Path, found: re.Match[str]) -> str:
    """Return a link that leaves the site as the path that it names, which must be there; a link that stays, as it is."""
    text, up, path = found.groups()
    target = (page.parent / up / path).resolve()
    if target.is_relative_to(ROOT / "docs"):
        return found[0]
    if not target.exists():
        logging.getLogger(__name__).warning(
            "link to %s, which is not there", up + path, location=str(page)
        )
    named = f"`{target.relative_to(ROOT)}`"
    return named if text.strip("`") == named.strip("`") else f"{text} ({named})"


def outside_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Name files of the repository that a page links to: the site does not hold them."""
    page = Path(app.srcdir, f"{name}.md")
    source[0] = OUTSIDE.sub(lambda found: told(page, found), source[0])


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the above."""
    app.connect("source-read", outside_links)
    app.add_lexer("console", Session)
