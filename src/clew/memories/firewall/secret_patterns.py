"""Rules that find secrets by their form, each in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

WORD = "A-Za-z0-9_-"  # what tokens are made of: none begins or ends in the midst of these
_START = f"(?<![{WORD}])"
_END = f"(?![{WORD}])"


class Secret(NamedTuple):
    """Where a text holds a secret, and by which rule."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and the literals without any of which it finds nothing.

    The group `secret`, if there is one, is what is taken out.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: str = field(repr=False)
    # Most patterns say all there is to say
    holds: Callable[[str], bool] = lambda value: True  # noqa: ARG005

    def __call__(self, text: str) -> Iterator[Secret]:
        """Yield what it finds."""
        group: int | str = "secret" if "(?P<secret>" in self.pattern else 0
        return (
            Secret(self.name, *found.span(group))
            for found in compile_pattern(self.pattern).finditer(text)
            if self.holds(found[group])
        )


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern ready to be used; most never are."""
    return re.compile(pattern)


def token(name: str, pattern: str, *anchors: str) -> Rule:
    """Return the rule for a token of its own shape, which stands by itself.

    A repetition in it must be possessive (`{20,}+`), so that nothing is tried twice.

    >>> rule = token("demo_key", "demo_[a-z]{4,}+", "demo_")
    >>> [tuple(found) for found in rule("key demo_abcd, not xdemo_abcd")]
    [('demo_key', 4, 13)]
    """
    return Rule(name, anchors, f"{_START}(?:{pattern}){_END}")


PRIVATE = "PRIVATE KEY"
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,12}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_SHAPES_END = r"-----END (?:[A-Z0-9]{1,12}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[A-Za-z0-9+/=:,\s\\-]*+"
# A placeholder is shown where a password would stand: <password>, ${PW}, {pw}, $PW, ****, …
PLACEHOLDER = r"(?s)[<\[{(%$].*|.*[>\]})]|[*x.…•#X-]+"


def private_keys(text: str) -> Iterator[Secret]:
    """Yield private keys in PEM or PGP armour.

    One that was cut short goes as far as its letters do.
    """
    if PRIVATE not in text:
        return
    ends = [found.end() for found in compile_pattern(_SHAPES_END).finditer(text)]
    at = following = 0
    while begin := compile_pattern(_BEGIN).search(text, at):
        while following < len(ends) and ends[following] < begin.end():
            following += 1
        body = compile_pattern(_BODY).match(text, begin.end())
        at = (
            ends[following]
            if following < len(ends)
            else max(begin.end(), body.end() if body else 0)
        )
        yield Secret("private_key", begin.start(), at)


def _is_password(value: str) -> bool:
    return compile_pattern(PLACEHOLDER).fullmatch(value) is None and value.casefold() not in {
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "redacted",
    }


def _is_token(value: str) -> bool:
    return _is_password(value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


JWT = token("jwt", r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?", "eyJ")
AGE = token("age_key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "AGE-SECRET-KEY-1")
URL = Rule(
    "url_password",
    ("://",),
    r":"
    r"/"
    r"/[^\s/?#@:\"'<>]{0,200}+:(?P<secret>[^\s/?#@\"'<>]{1,200}+(?:@[^\s/?#@\"'<>]{1,60}+(?=@)"
    r")?)@(?=[\w\[])",
    _is_password,
)
SIGNED = Rule(
    "url_token",
    ("sig=", "token=", "ignature=", "key=", "secret=", "auth="),
    r"[?&][\w-]{0,20}?(?:sig|token|[Ss]ignature|key|secret|"
    r"auth)=(?P<secret>[A-Za-z0-9%_+/=.-]{16,}+)",
    _is_token,
)
HEADER = Rule(
    "bearer",
    ("earer", "EARER", "uthorization", "UTHORIZATION"),
    r"(?<!\w)(?:(?i:bearer)|"
    r"(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[A-Za-z-]{2,20}+)"
    r"\s{1,3}(?P<secret>[\w.~+/=-]{16,}+)",
    _is_token,
)


def _holds_session(value: str) -> bool:
    return any(
        _is_token(each) for each in compile_pattern(r"(?<==)[\w%.~+/-]{16,}+").findall(value)
    )


COOKIE = Rule(
    "cookie",
    ("ookie", "OOKIE"),
    r"(?<!\w)(?i:(?:set-)?cookie)[\"']?\s{0,2}[:=]"
    r"\s{0,3}[\"']?(?P<secret>[^\s=;,\"']{1,60}+=[^\n\"']{16,2000}+)",
    _holds_session,
)
# As crypt(3), htpasswd and LDAP write them: whoever has one can try passwords against it.
HASH = Rule(
    "password_hash",
    ("$apr1$", "$1$", "$2", "$5$", "$6$", "$y$", "$argon2", "$scrypt$", "SHA}"),
    r"\$(?:apr1|1|5|6|y|2[abxy]?|argon2(?:id|i|d)|scrypt)\$[A-Za-z0-9./=,$+]{20,200}+|"
    r"\{S?SHA\}[A-Za-z0-9+/]{27,60}+={0,2}+",
)
OTP = Rule(
    "otp_secret",
    ("otpauth://",),
    r"otpauth://[^\s\"'<>]{1,200}?[?&]secret=(?P<secret>[A-Za-z2-7]{8,}+)",
)
WIFI = Rule("password", ("WIFI:",), r"WIFI:[^\n]{0,80}?(?<=[:;])P:(?P<secret>[^;\n]{4,63}+)")
PGPASS = Rule(
    "password",
    (":543", ":6432:", ":*:"),
    r"(?m)^[\w.*-]{1,100}+:(?:543\d|6432|"
    r"\*):[\w*-]{1,63}+:[\w.*-]{1,63}+:(?P<secret>[^\s:]{4,100}+)$",
)
SHAPES = (JWT, AGE, URL, SIGNED, HEADER, COOKIE, HASH, OTP, WIFI, PGPASS)


def _is_typed(value: str) -> bool:
    return (
        _is_password(value)
        and any(map(str.isalpha, value))
        and (any(map(str.isdigit, value)) or not value.isalnum())
    )


# Commands that take a password as an option; others use the same letters for ports and folders.
_CALLS = (
    r"(?<![\w-])(?:docker|podman|helm|az|oc|sshpass|mysql\w*|mariadb\w*)\b[^\n|;&]{0,80}?\s-p[ ]?"
)
COMMAND = Rule(
    "password",
    (" -",),
    rf"(?:{_CALLS}|(?<![\w-])(?:curl|wget|https?)\b[^\n|;&]{{0,80}}?\s(?:-u|--user)[ "
    rf"=]?[\"']?[^\s:\"']{{1,60}}+:|"
    r"(?<![\w-])redis-cli\b[^\n|;&]{0,80}?\s-a[ ])[\"']?(?P<secret>[^\s\"':$]{6,200}+)(?!:)",
    _is_typed,
)
NETRC = Rule(
    "password",
    ("login ",),
    r"(?:machine\s{1,3}\S{1,100}+|"
    r"default)\s{1,6}login\s{1,3}\S{1,100}+\s{1,6}password\s{1,3}(?P<secret>\S{4,200}+)",
)
STATEMENT = Rule(
    "password",
    ("IDENTIFIED BY",),
    r"IDENTIFIED BY\s{1,3}[\"'](?P<secret>[^\"'\n]{4,200}+)",
    _is_password,
)
# Found also where no word of the text is as long as a token.
SHORT = (COMMAND, NETRC, STATEMENT)
_KUBERNETES = (
    r"(?m)^[ \t]{0,8}(?:stringD|d)ata:[ \t]*+\n(?P<entries>(?:[ \t]+[\w.-]+:[^\n]*+(?:\n|$))+)"
)
_ENTRY = r"(?m)^[ \t]+[\w.-]+:[ \t]*+(?P<secret>[^\s|>][^\n]{3,}+)$"
KUBERNETES = "kind: Secret"


def kubernetes_secrets(text: str) -> Iterator[Secret]:
    """Yield the values of a Kubernetes Secret, which nothing but their place gives away."""
    for block in compile_pattern(_KUBERNETES).finditer(text):
        for entry in compile_pattern(_ENTRY).finditer(
            text, block.start("entries"), block.end("entries")
        ):
            yield Secret("kubernetes_secret", *entry.span("secret"))


def passes_luhn(number: str) -> bool:
    """Tell whether the digits end in the check digit of ISO/IEC 7812-1.

    >>> passes_luhn("4111 1111 1111 1111"), passes_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(each) for each in reversed(number) if each.isdigit()]
    return sum(digits[0::2] + [each * 2 - 9 * (each > 4) for each in digits[1::2]]) % 10 == 0


_CARD = (
    r"(?<![\w.-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6(?:011|"
    r"5\d{2}))(?:[ -]?\d{4}){3})(?![\w-])"
)
CARD = Rule("card_number", tuple("23456"), _CARD, passes_luhn)


# Tokens of services, by the prefixes and lengths that their makers publish so that scanners can
# find them.
#
# Where a maker publishes no shape the token is found only beside a name, by `assigned`.

CLOUDS: tuple[Rule, ...] = (
    token("aws_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    token("google_key", r"AIza[0-9A-Za-z_-]{35}", "AIza"),
    token(
        "google_oauth", r"GOCSPX-[0-9A-Za-z_-]{28}|ya29\.[0-9A-Za-z_-]{20,}+", "GOCSPX-", "ya29."
    ),
    token(
        "azure_key",
        r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,90}+={0,2}+",
        "AccountKey=",
        "SharedAccessKey=",
    ),
    token("digitalocean_token", r"do[oprt]_v1_[a-f0-9]{64}", "_v1_"),
    token("databricks_token", r"dapi[a-f0-9]{32}(?:-\d)?", "dapi"),
    token("vault_token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}+", "hvs.", "hvb.", "hvr."),
    token("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}+", ".atlasv1."),
    token("alibaba_key", r"LTAI[A-Za-z0-9]{17,21}+", "LTAI"),
)
CODE: tuple[Rule, ...] = (
    token(
        "github_token",
        r"gh[opusr]_[A-Za-z0-9]{36,251}+|github_pat_[A-Za-z0-9_]{22,255}+",
        "gho_",
        "ghp_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
    ),
    token(
        "gitlab_token",
        r"gl(?:pat|dt|rt|ptt|ft|agent|oas|cbt)-[A-Za-z0-9_.-]{20,}+",
        "glpat-",
        "gldt-",
        "glrt-",
        "glptt-",
        "glft-",
        "glagent-",
        "gloas-",
        "glcbt-",
    ),
    token("npm_token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    token("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}+", "pypi-"),
    token("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}+", "dckr_"),
    token("rubygems_key", r"rubygems_[a-f0-9]{48}", "rubygems_"),
    token("atlassian_token", r"ATATT3[A-Za-z0-9_=-]{50,}+", "ATATT3"),
    token("linear_key", r"lin_api_[A-Za-z0-9]{32,}+", "lin_api_"),
    token("postman_key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", "PMAK-"),
    token(
        "grafana_token",
        r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,}+",
        "glsa_",
        "glc_",
    ),
    token("figma_token", r"figd_[A-Za-z0-9_-]{32,}+", "figd_"),
    token("sentry_token", r"sntr(?:ys|yu)_[A-Za-z0-9_=+/-]{40,}+", "sntrys_", "sntryu_"),
)
MODELS: tuple[Rule, ...] = (
    token("anthropic_key", r"sk-ant-[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{20,}+", "sk-ant-"),
    token("openrouter_key", r"sk-or-(?:v1-)?[a-f0-9]{32,}+", "sk-or-"),
    token(
        "openai_key", r"sk-(?:proj-|svcacct-|admin-)?(?=[A-Za-z_-]*+\d)[A-Za-z0-9_-]{20,}+", "sk-"
    ),
    token("huggingface_token", r"hf_[A-Za-z0-9]{30,}+", "hf_"),
    token("groq_key", r"gsk_[A-Za-z0-9]{40,}+", "gsk_"),
    token("xai_key", r"xai-[A-Za-z0-9]{60,}+", "xai-"),
    token("replicate_token", r"r8_[A-Za-z0-9]{37}", "r8_"),
    token("perplexity_key", r"pplx-[A-Za-z0-9]{40,}+", "pplx-"),
)
MESSAGES: tuple[Rule, ...] = (
    token(
        "slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-\d-[A-Za-z0-9-]{20,}+", "xox", "xapp-"
    ),
    token(
        "slack_webhook",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}+",
        "hooks.slack.com/",
    ),
    token(
        "discord_webhook",
        r"https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/\d{15,20}/[A-Za-z0-9_-]{50,}+",
        "/api/webhooks/",
    ),
    token(
        "discord_token",
        r"[MNO][A-Za-z0-9_-]{23,27}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
        "iscord",
        "DISCORD",
    ),
    token("telegram_token", r"\d{8,10}:AA[A-Za-z0-9_-]{33}", ":AA"),
    token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", "SG."),
    token("mailgun_key", r"key-[a-f0-9]{32}", "key-"),
    token("mailchimp_key", r"[a-f0-9]{32}-us\d{1,2}", "-us"),
    token("twilio_key", r"SK[a-f0-9]{32}", "SK"),
)
MONEY: tuple[Rule, ...] = (
    token(
        "stripe_key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9]{24,}+",
        "_live_",
        "_test_",
        "whsec_",
    ),
    token(
        "square_token", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}+|EAAA[A-Za-z0-9_-]{60}", "sq0", "EAAA"
    ),
    token("shopify_token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "shp"),
)
OTHERS: tuple[Rule, ...] = (
    token("mapbox_token", r"sk\.eyJ[A-Za-z0-9_-]{40,}+\.[A-Za-z0-9_-]{16,}+", "sk.eyJ"),
    token("wallet_key", r"[xyz]prv[A-Za-z0-9]{80,120}+", "prv"),
    token(
        "service_token",
        r"(?:nfp_|ntn_|sbp_|pscale_(?:tkn|pw|oauth)_|dp\.(?:pt|st|sa|ct|scim|audit)\.|pul-|"
        r"CCIPAT_|CCIPRJ_|tskey-[a-z]{2,12}-|NRAK-|NRII-|"
        r"sq[apu]_|bkua_|rnd_|lsv2_[ps][tk]_|fo1_|phx_|ops_eyJ|dt0[cs]01\.|shippo_live_|sl\.|"
        r"1//0|EAA)[A-Za-z0-9_.-]{20,}+",
        *(
            "nfp_",
            "ntn_",
            "sbp_",
            "pscale_",
            "dp.",
            "pul-",
            "CCIP",
            "tskey-",
            "NRAK-",
            "NRII-",
            "sqa_",
            "sqp_",
            "squ_",
            "bkua_",
            "rnd_",
        ),
        *("lsv2_", "fo1_", "phx_", "ops_eyJ", "dt0", "shippo_live_", "sl.", "1//0", "EAA"),
    ),
)
SERVICES = (*CLOUDS, *CODE, *MODELS, *MESSAGES, *MONEY, *OTHERS)
