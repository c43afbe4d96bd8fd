"""Secrets that only their name gives away: password = …, "api_key": "…", the Wi-Fi password is …

A name alone says little: most sentences about passwords hold none. So what stands beside it must look like a secret: more alike a
password where the text is code or configuration, far more so where it is prose.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from clew.ingest.firewall.secrets.rule import Secret, compiled
from clew.ingest.firewall.secrets.shapes import PLACEHOLDER

# What the name of a secret ends with, in small letters.
PASSWORDS = (
    *("password", "passwd", "passphrase", "passcode", "passwort", "pwd", "kennwort", "contraseña", "clave", "mot de passe", "senha"),
    *("пароль", "wachtwoord", "parola", "密码", "口令", "パスワード", "비밀번호"),
)
KEYS = ("secret", "token", "credential", "credentials")
QUALIFIED = "key"  # a key may open a door or a song: which one it is must be said
_QUALIFIER = r"(?:api|access|secret|private|auth|account|encryption|signing|client|service|shared|app|master|license)[_ -]{0,2}$"
_QUALIFIER_CHARACTERS = 14
_NAMES = (*PASSWORDS, *KEYS, QUALIFIED)
_ASCII_NAMES = tuple(filter(str.isascii, _NAMES))
_HINTS = ("pass", "pwd", "kennwort", "clave", "senha", "wachtwoord", "parola", "secret", "token", "credential", "key")  # one is in each
# After the name what binds it to a value: signs of code, or the words of prose in several languages, "password for the lab is …".
_BOUND = (
    r"(?i)s?(?:[_-]\w{1,30}+)?"
    r"(?:(?P<code>[\"'`]?\s{0,2}(?::=|=>|==|=|:)\s{0,2})"
    r"|(?P<prose>(?:[ ](?:for|to|of|on|at|für|zum|zur|vom|de|del|du|pour|para|da|do)[ ][^\n.;:=!?]{1,60}?)?"
    r"[ ](?:(?:(?:is|was|has[ ]been|wurde)[ ])?(?:changed|set|reset|updated|geändert)[ ](?:to|auf|zu)|"
    r"is|was|ist|lautet|war|es|est|é|era|reads|now[ ]is|is[ ]now|=)[ ]|(?:是|为|は|:)\s?))"
    r"(?P<quote>[\"'`“„«]?)(?P<secret>[^\s\"'`“”„«»<>]{4,200}+)"
)
_TRAILING = ".,;:!?)]}。,、"
_CLASSES = (str.islower, str.isupper, str.isdigit, lambda each: not each.isalnum())
_CODE = r"[\w.]*[(\[].*|.*(?:::|->|\(\)).*|(?:self|this|os|process|env|config|settings|args|options|ctx|req|request|params|data)\..*"
_MEASURE = (
    r"(?i)\d[\d.,:/x-]*(?:[a-zµ%°]{0,3}|[ -]?(?:bits?|bytes?|char(?:acter)?s?|days?|hours?|minutes?|months?|years?|times?|digits?|tokens?))"
    r"|[a-z]+-\d{1,2}|v\d[\w.-]*|(?:sha|md|aes|rsa|hs|rs|es|ed|base|utf|oauth|tls)-?\d+[\w-]*"
)
_NOT_SECRET = frozenset(
    "none null nil true false undefined string str int integer bool bytes text number any optional object required empty missing unset "
    "password passwd secret token example changeme placeholder redacted hidden masked unknown default sample dummy test foobar".split()
)
LEAST_ENTROPY = 3.0  # bits a character: above it lie random tokens of 16 and more characters, below it words and names
MIN_TOKEN = 16
MIN_PASSWORD = 6


def assigned(text: str) -> Iterator[Secret]:
    """Yield what stands beside the name of a secret and looks like one.

    >>> [text[found.start : found.end] for text in ["DB_PASSWORD=tr0ub4dor", "The password is in the vault"] for found in assigned(text)]
    ['tr0ub4dor']
    """
    small = _small(text)
    for hint in _HINTS:  # a plain loop: an `any` over them takes longer
        if hint in small:
            break
    else:
        if text.isascii():
            return
    for name in _ASCII_NAMES if text.isascii() else _NAMES:
        at = small.find(name)
        while at >= 0:
            found = _found(text, small, name, at)
            if found is not None:
                yield found
            at = small.find(name, at + len(name) if found is None else found.end)


def _found(text: str, small: str, name: str, at: int) -> Secret | None:
    """Return the secret beside the name that stands here, if it is one and not Clew's own mark, `[secret:…]`."""
    bound = compiled(_BOUND).match(text, at + len(name))
    if bound is None or text[at - 1 : at] == "[" or (name == QUALIFIED and not _qualified(small, at)) or _in_query(small, at):
        return None
    value = bound["secret"].rstrip(_TRAILING)
    kind = "password" if name in PASSWORDS else "credential"
    if not looks_secret(value, kind=kind, code=bound["code"] is not None, quoted=bool(bound["quote"])):
        return None
    return Secret(kind, bound.start("secret"), bound.start("secret") + len(value))


@lru_cache(maxsize=1024)
def names_secret(name: str) -> bool:
    """Tell whether what stands under this name may be a secret.

    >>> names_secret("DB_PASSWORD"), names_secret("api-key"), names_secret("keyboard")
    (True, True, False)
    """
    small = _small(name)
    return any(each in small for each in (*PASSWORDS, *KEYS)) or (small.endswith(QUALIFIED) and _qualified(small, len(small) - 3))


def _small(text: str) -> str:
    """Return the text in small letters, as long as it was: the capital İ alone would become two characters."""
    return text.replace("\u0130", "i").lower()


def _qualified(small: str, at: int) -> bool:
    return compiled(_QUALIFIER).search(small[max(0, at - _QUALIFIER_CHARACTERS) : at]) is not None


def _in_query(small: str, at: int) -> bool:
    """Tell whether a name stands in the query of a URL: `url_token` knows where its value ends."""
    return compiled(r"[?&][\w-]{0,20}$").search(small[max(0, at - 21) : at]) is not None


def looks_secret(value: str, *, kind: str, code: bool, quoted: bool) -> bool:
    """Tell whether a value beside the name of a secret is one, rather than a word about it.

    >>> [looks_secret(value, kind="password", code=False, quoted=False) for value in ("hunter2", "mandatory", "v2.1", "<password>")]
    [True, False, False, False]
    """
    if len(value) < (MIN_TOKEN if kind == "credential" else MIN_PASSWORD) or not _is_value(value):
        return False
    classes = sum(any(map(each, value)) for each in _CLASSES)
    if kind == "credential":
        return classes >= 2 and any(map(str.isdigit, value)) and entropy(value) >= LEAST_ENTROPY
    if code and quoted:
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed or (classes >= 3 and not _is_compound(value))


def _is_value(value: str) -> bool:
    """Tell whether it is neither a placeholder, an expression, a measure nor a word that says there is none."""
    plain = value.casefold().strip("_-")
    return not (
        compiled(PLACEHOLDER).fullmatch(value)
        or plain in _NOT_SECRET
        or plain.startswith(("your", "my_", "my-", "some", "http://", "https://", "the_", "/", "~", "$", "env:", "vault:"))
        or compiled(_CODE).fullmatch(value)
        or compiled(_MEASURE).fullmatch(value)
    )


def _is_compound(value: str) -> bool:
    """Tell whether it is words with signs between them: `Read-only`, `base/path`.

    >>> _is_compound("Single-use"), _is_compound("c0rrect!Horse")
    (True, False)
    """
    return all(part.isalpha() or not part for part in re.split(r"[-_/.,&+]", value))


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters, in bits each.

    >>> entropy("aaaa"), entropy("abab"), round(entropy("k3J9xQ2m"), 1)
    (0.0, 1.0, 3.0)
    """
    counts = Counter(text).values()
    return abs(sum(count / len(text) * math.log2(len(text) / count) for count in counts))
