"""Which format a file has: its name says so, unless its first bytes say otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

# what `detect` wants to see of a file: a page's <html> may follow comments and an XML line
HEAD_BYTES = 2048

FORMATS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text": (".txt", ".text", ".log", ".adoc", ".org", ".tex"),
        "markdown": (".md", ".markdown", ".mdx", ".mkd"),
        "rst": (".rst", ".rest"),
        "html": (".html", ".htm", ".xhtml"),
        "pdf": (".pdf",),
        "docx": (".docx",),
        "odt": (".odt", ".ott"),
        "epub": (".epub",),
        "pptx": (".pptx",),
        "xlsx": (".xlsx", ".xlsm"),
        "notebook": (".ipynb",),
        "eml": (".eml",),
        "mbox": (".mbox",),
        "ics": (".ics",),
        "vcf": (".vcf", ".vcard"),
        "archive": (".zip",),  # a chat export as it arrives
        "conversation": (),  # found by content in .json, .jsonl and .txt, or asked for by name
        "json": (".json",),
        "jsonl": (".jsonl", ".ndjson"),
        "csv": (".csv", ".tsv"),
        "yaml": (".yaml", ".yml"),
        "toml": (".toml",),
        "xml": (".xml",),
        "ini": (".ini", ".cfg"),
        "python": (".py", ".pyi"),
        "javascript": (".js", ".jsx", ".mjs", ".cjs"),
        "typescript": (".ts", ".mts", ".cts"),
        "tsx": (".tsx",),
        "go": (".go",),
        "rust": (".rs",),
        "java": (".java",),
        "c": (".c", ".h"),
        "cpp": (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"),
        "csharp": (".cs",),
        "ruby": (".rb",),
        "php": (".php",),
        "kotlin": (".kt", ".kts"),
        "swift": (".swift",),
        "scala": (".scala",),
        "lua": (".lua",),
        "r": (".r",),
        "shell": (".sh", ".bash", ".zsh"),
        "powershell": (".ps1",),
        "sql": (".sql",),
        "css": (".css", ".scss", ".less"),
    }
)
"""Each format with the extensions that mean it."""

_BY_EXTENSION = {
    extension: name for name, extensions in FORMATS.items() for extension in extensions
}
_PAGE = re.compile(rb"<!doctype\s{1,9}html|<html[\s>]", re.IGNORECASE)
_SHEBANG = re.compile(rb"#![^\n]{0,100}\b(python|node|bash|zsh|ruby|php|sh)[\d.]{0,9}(?:\s|$)")
# "[2024-03-01]" begins a transcript, not a list
_DATA = re.compile(rb'\[\s{0,99}[\[{"\]]|\{\s{0,99}["}]')
_MARKS = (
    (b"application/epub+zip", "epub"),
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"word/", "docx"),
    (b"ppt/", "pptx"),
    (b"xl/", "xlsx"),
)
_INTERPRETED = {"node": "javascript", "bash": "shell", "zsh": "shell", "sh": "shell"}


def detect(path: PurePath, head: bytes) -> str:
    """Return the format of a file by its name and its first `HEAD_BYTES`.

    What nothing is known about is "text".

    >>> detect(PurePath("notes.MD"), b""), detect(PurePath("download"), b"%PDF-1.7"), detect(PurePath("run"), b"#!/usr/bin/env python3")
    ('markdown', 'pdf', 'python')
    """
    if head.startswith(b"%PDF-"):
        return "pdf"
    named = _BY_EXTENSION.get(path.suffix.lower())
    return named or _by_content(head)


def _by_content(head: bytes) -> str:
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"PK\x03\x04"):
        return _packed(head)
    if begin.startswith(b"<") and _PAGE.search(begin):
        return "html"
    if found := _SHEBANG.match(head):
        name = found.group(1).decode("ascii")
        return _INTERPRETED.get(name, name)
    return "json" if _DATA.match(begin) else "text"


def _packed(head: bytes) -> str:
    """Return the format of a zip by its first members."""
    for mark, name in _MARKS:
        if mark in head:
            return name
    return "docx" if b"[Content_Types].xml" in head else "archive"
