"""One key for all the ways to write a name."""

from __future__ import annotations

import re
from functools import lru_cache

from clew.graph.entities.lexicon import ORG_ENDS, TITLES
from clew.words import REMEMBERED, STOP_WORDS, folded

MOST_HEADED = 8  # words of a title that may be called by what is before its comma: a longer one is a sentence
MAX_KEY = 120  # characters: a longer name is a blob, and its start identifies it well enough
_ARTICLES = frozenset(("the", "a", "an"))
_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")
_POSSESSIVE = re.compile(r"['’]s?(?=\s|$)")
_APOSTROPHES = re.compile(r"['’‘`]")
_PUNCTUATION = re.compile(r"[^\w+#@/]+")  # C++, C#, @handle and a/path keep what tells them apart
_MARKED = re.compile(r"[^a-z0-9 ]")


@lru_cache(maxsize=REMEMBERED)
def entity_key(name: str) -> str:
    """Return what joins the ways to write a name: no case, accents, possessive, article, punctuation, closing parenthesis.

    >>> entity_key("The Beatles'"), entity_key("José Müller’s"), entity_key("Titanic (1997 film)"), entity_key("C++")
    ('beatles', 'jose muller', 'titanic', 'c++')
    >>> entity_key("U.S.A."), entity_key("The The"), entity_key("#launch"), entity_key("src/a.py")
    ('usa', 'the', '#launch', 'src/a py')
    """
    if name.isascii() and name.isalpha():  # one word, as most are
        return name.lower()[:MAX_KEY]
    return _spelled(_PARENTHESIS.sub("", name[: 2 * MAX_KEY]) or name)


def title_keys(title: str) -> tuple[str, ...]:
    """Return the key of a title and its further ones: with the parenthesis, and without what follows a comma.

    Also without a person's title ("Princess Yolanda of Savoy"). One word of a longer title ("Lambert, Margrave of Tuscany")
    names too many to be a key.

    >>> title_keys("Titanic (1997 film)"), title_keys("Boso, Duke"), title_keys("Anna Maria Sforza, Duchess")
    (('titanic', 'titanic 1997 film'), ('boso duke',), ('anna maria sforza duchess', 'anna maria sforza'))
    """
    whole = entity_key(title)
    head = entity_key(title.partition(",")[0]) if whole.count(" ") < MOST_HEADED else ""
    shorter = [key for key in (head, _untitled(whole)) if " " in key]
    return tuple(dict.fromkeys(key for key in (whole, _spelled(title), *shorter) if key))


MAX_PARTS_OF = 7  # words of a name that is also known by its first words


def key_beginnings(key: str) -> tuple[str, ...]:
    """Return what a longer name is often called by: its key without the last one or two words, two words at least.

    >>> key_beginnings("nottingham forest fc"), key_beginnings("marie curie"), key_beginnings("battle of trasimene")
    (('nottingham forest',), (), ())
    """
    words = key.split()
    if not 2 < len(words) <= MAX_PARTS_OF or words[0] in STOP_WORDS:
        return ()
    parts = (words[:-1], words[:-2])
    return tuple(" ".join(part) for part in parts if len(part) > 1 and part[-1] not in STOP_WORDS)


def _untitled(key: str) -> str:
    first, _, rest = key.partition(" ")
    named = first in TITLES and not rest.startswith("of ") and rest.rpartition(" ")[2] not in ORG_ENDS
    return rest if named else key


def _spelled(name: str) -> str:
    plain = name.casefold()
    if _MARKED.search(plain):
        plain = folded(_POSSESSIVE.sub("", plain))
        plain = _PUNCTUATION.sub(" ", _joined_initials(_APOSTROPHES.sub("", plain)))
    parts = plain.split()
    first = next((at for at, part in enumerate(parts) if part not in _ARTICLES), len(parts) - 1)
    return " ".join(parts[max(0, first) :])[:MAX_KEY].strip()


_INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]\.)+[^\W\d_](?!\w)\.?")


def _joined_initials(plain: str) -> str:
    """Write "u.s.a." as one word; a lone initial stays by itself."""
    return _INITIALS.sub(lambda found: found[0].replace(".", ""), plain) if "." in plain else plain
