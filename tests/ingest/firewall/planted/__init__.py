"""The planted texts as the tests read them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent


class Holding(NamedTuple):
    """A text with secrets in it, by which rule one of them is found, and what must not be left."""

    rule: str
    text: str
    secrets: tuple[str, ...]


def planted(name: str) -> Any:
    return yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8").replace("~", ""))


def texts(groups: dict[str, list[str]]) -> list[str]:
    return [text for group in groups.values() for text in group]


def holdings(name: str) -> list[Holding]:
    return [
        Holding(rule, re.sub("[⟦⟧]", "", text), tuple(re.findall("⟦(.*?)⟧", text, re.DOTALL)))
        for rule, group in planted(name)["holding"].items()
        for text in group
    ]
