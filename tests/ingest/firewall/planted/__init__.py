"""The planted texts as the tests read them."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digits": string.digits,
    "lower": string.ascii_lowercase,
    "alnum": string.ascii_letters + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "-_",
}
_BODY = re.compile(rf"\{{\{{({'|'.join(_ALPHABETS)}) (\d+)\}}\}}")


class Holding(NamedTuple):
    """A text with secrets in it, by which rule one of them is found, and what must not be left."""

    rule: str
    text: str
    secrets: tuple[str, ...]


def planted(name: str) -> Any:
    """Return the lists of a file, with random characters in place of every {{kind length}}."""
    source = (HERE / f"{name}.yaml").read_text(encoding="utf-8")
    if name.startswith("secrets"):
        source = source.replace("~", "")
    generator = random.Random(name)
    return yaml.safe_load(
        _BODY.sub(lambda found: _body(generator, found[1], int(found[2])), source)
    )


def _body(generator: random.Random, kind: str, length: int) -> str:
    return "".join(generator.choices(_ALPHABETS[kind], k=length))


def texts(groups: dict[str, list[str]]) -> list[str]:
    return [text for group in groups.values() for text in group]


def holdings(name: str) -> list[Holding]:
    return [
        Holding(rule, re.sub("[⟦⟧]", "", text), tuple(re.findall("⟦(.*?)⟧", text, re.DOTALL)))
        for rule, group in planted(name)["holding"].items()
        for text in group
    ]
