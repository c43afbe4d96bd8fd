"""Secrets that are known by their form, whoever issued them: private keys, JWT, URLs with a password, headers, payment cards."""

from __future__ import annotations

from collections.abc import Iterator

from clew.ingest.firewall.secrets.rule import Rule, Secret, compiled, token

PRIVATE = "PRIVATE KEY"
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,12}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]{1,12}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[A-Za-z0-9+/=:,\s\\-]*+"
# A placeholder is shown where a password would stand: <password>, ${PW}, {pw}, $PW, ****, …
PLACEHOLDER = r"(?s)[<\[{(%$].*|.*[>\]})]|[*x.…•#X-]+"


def private_keys(text: str) -> Iterator[Secret]:
    """Yield private keys in PEM or PGP armour; one that was cut short goes as far as its letters do."""
    if PRIVATE not in text:
        return
    ends = [found.end() for found in compiled(_END).finditer(text)]
    at = following = 0
    while begin := compiled(_BEGIN).search(text, at):
        while following < len(ends) and ends[following] < begin.end():
            following += 1
        body = compiled(_BODY).match(text, begin.end())
        at = ends[following] if following < len(ends) else max(begin.end(), body.end() if body else 0)
        yield Secret("private_key", begin.start(), at)


def _is_password(value: str) -> bool:
    return compiled(PLACEHOLDER).fullmatch(value) is None and value.casefold() not in {
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
    }


def _is_token(value: str) -> bool:
    return _is_password(value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


JWT = token("jwt", r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?", "eyJ")
AGE = token("age_key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "AGE-SECRET-KEY-1")
URL = Rule(
    "url_password",
    ("://",),
    r"://[^\s/?#@:\"'<>]{0,200}+:(?P<secret>[^\s/?#@\"'<>]{1,200}+)@(?=[\w\[])",
    _is_password,
)
SIGNED = Rule(
    "url_token",
    ("sig=", "token=", "ignature=", "key=", "secret=", "auth="),
    r"[?&][\w-]{0,20}?(?:sig|token|[Ss]ignature|key|secret|auth)=(?P<secret>[A-Za-z0-9%_+/=.-]{16,}+)",
    _is_token,
)
HEADER = Rule(
    "bearer",
    ("earer", "EARER", "asic ", "BASIC "),
    r"(?<!\w)(?:(?i:bearer)|(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?i:basic))\s{1,3}(?P<secret>[\w.~+/=-]{16,}+)",
    _is_token,
)
SHAPES = (JWT, AGE, URL, SIGNED, HEADER)


def passes_luhn(number: str) -> bool:
    """Tell whether the digits end in the check digit of ISO/IEC 7812-1.

    >>> passes_luhn("4111 1111 1111 1111"), passes_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(each) for each in reversed(number) if each.isdigit()]
    return sum(digits[0::2] + [each * 2 - 9 * (each > 4) for each in digits[1::2]]) % 10 == 0


_CARD = r"(?<![\w.-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6(?:011|5\d{2}))(?:[ -]?\d{4}){3})(?![\w-])"
CARD = Rule("card_number", tuple("23456"), _CARD, passes_luhn)
