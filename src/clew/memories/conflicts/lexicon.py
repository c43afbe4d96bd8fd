"""Word lists for the comparison of statements: negations, states that exclude each other, verbs.

English, with the commonest negations and verbs of German. Lists hold words as they are written, in
lower case; the differing words themselves may be of any language.
"""

from __future__ import annotations

from collections.abc import Mapping

from clew.text.words import STOP_WORDS, fold

NEGATIONS = frozenset(
    "not no never without nobody nothing none neither nicht kein keine keinen keinem keiner nie niemals ohne".split()
)
# Written together with a negation: "isn't", "cannot". `folded` takes the apostrophe away.
CONTRACTED = frozenset(
    """
    isnt arent wasnt werent dont doesnt didnt hasnt havent hadnt cant cannot couldnt wont wouldnt shouldnt mustnt neednt
    """.split()
)
DETERMINERS = frozenset(
    "the a an this that these those our my your his her its their der die das den dem ein eine einen unser unsere mein".split()
)
PRONOUNS = frozenset("i we he she they you it ich wir er sie".split())
FIRST_PERSON = frozenset(
    "i im my me mine myself we our us ours ich wir mein meine unser unsere".split()
)
COPULAS = frozenset("is are was were be been ist sind war waren".split())
AUXILIARIES = (
    frozenset(
        """
    is are was were has have had can cannot could may must will would should shall does do did might ist sind war hat haben
    kann darf muss wird
    """.split()
    )
    | CONTRACTED
)
PAST = frozenset(
    "was were had did used lived liked worked drank smoked ate owned war hatte".split()
)

# What a thing has one of at a time: "lives in", "is written in". By the written form, with what
# stands for all forms.
_SINGLE = """
live lives lived living resides resided wohnt|work works worked working employed arbeitet|born geboren|married
called named heisst|held|located based steht liegt stands sits hangs|parked|stores stored kept keeps|hosted|written
built|painted|studies studied studying|assigned|belongs|reports|led|owned|managed|moved|runs running|
happens happen happening|place|starts start started begins begin beginnt|ends end ended|leaves departs|
opens|closes|expires expire expired|due|listens listen|installed|founded|speaks_at
"""
SINGLE: Mapping[str, str] = {
    word: group.split()[0]
    for group in "".join(_SINGLE.splitlines()).split("|")
    if group.strip()
    for word in group.split()
}
# What can be said of several things side by side.
_MULTIPLE = """
likes like loves enjoys hates dislikes prefers prefer wants want needs need uses use speaks spricht knows plays eats
drinks smokes takes supports returns contains contain includes excludes covers sells visited buys bought wrote read
reads reviewed depends alerts alert checks has have owns writes sends retries consists ran met saw made makes parked
swims drives kommt works passes fails promises beträgt keeps wrote ordered tried got costs
passed failed signed expects requires allows closes
"""
MULTIPLE = frozenset(_MULTIPLE.split())
EVENTS = frozenset(
    "ran visited bought wrote read reviewed met saw made ordered tried got discussed had ate went drank spoke".split()
)
MARKERS = frozenset(
    "favourite favorite primary main default only official current preferred capital lieblingsfarbe birthday name title".split()
)
# An attribute has one value: "the colour of the logo is".
ATTRIBUTES = frozenset(
    """
    colour color language name format style type kind size owner lead leader manager region branch location address address
    birthday status role job title version engine framework database editor currency timezone unit dentist doctor boss
    """.split()
)
# Of no weight beside a value: "uses MySQL as its database" is "its database is MySQL".
LIGHT = (
    frozenset(
        """
    use uses used using have has had is are was were there make makes made get gets take takes takes_place will be limited
    deadline due long length month monthly promises amounts amount currently now still longer anymore also just already yet always any
    every each old year years per about around called named moved happen happens happening called one is's
    """.split()
    )
    | STOP_WORDS
)
HEDGES = frozenset("once formerly previously originally used".split())
ID_LABELS = frozenset("pr mr issue ticket bug case order invoice chapter page commit task".split())
OUTWARD = frozenset("on off up down".split())
"""Stop words that name a state behind a verb."""
TIMES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays yesterday today tomorrow spring summer autumn winter january february march april june july august september
    october november december
    """.split()
)
MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        """
        january jan januar|february feb februar|march mar märz|april apr|may mai|june jun juni|july jul juli|
        august aug|september sep sept|october oct oktober|november nov|december dec dezember
        """.replace("\n", "").split("|"),
        start=1,
    )
    for name in map(fold, names.split())
}
SUBORDINATE = frozenset(
    "since because which unless except although though whereas denn weil".split()
)
LEADS = frozenset(
    "in on at before after since as last this next during until when while yesterday today now im vor nach seit".split()
)

# Groups of states that exclude each other; words between bars mean the same.
_STATES = """
on enabled enable enables active activated | off disabled disable disables inactive deactivated
open opened reopened unresolved unsolved | closed resolved solved
accepted approved granted confirmed | rejected denied declined refused | pending
finished complete completed done arrived delivered shipped merged | pending ongoing unfinished incomplete waiting way
works working functional operational repaired fixed | broken defective
single unmarried | married | divorced | widowed
public | private | confidential
allowed permitted | forbidden prohibited banned
stable supported maintained | deprecated retired abandoned unmaintained | experimental
likes like loves love enjoys enjoy | hates hate dislikes dislike detests
passes pass passed passing green | fails fail failed failing
full | empty
dark | light
tabs | spaces
synchronous | asynchronous
free | proprietary | paid
mandatory required compulsory | optional
manual manually hand | automatic automatically automated
alive | dead
online | offline
visible shown | hidden
locked | unlocked
includes include included including | excludes exclude excluded excluding
staffed | understaffed
hot | cold
available | unavailable
safe | unsafe dangerous
vegetarian | vegan
read-only | writable
remote remotely | on-site onsite
daily | weekly | monthly | hourly | yearly
healthy | ill sick
encrypted | unencrypted plaintext
possible | impossible
legal | illegal
true | false
started running | stopped
rising increasing | falling decreasing
stateful | stateless
mutable | immutable
blocking | non-blocking
lowercase | uppercase
horizontal | vertical
malignant | benign
positive | negative
up | down
larger bigger | smaller
faster | slower
careful | careless
useful | useless
secure | insecure
indoors | outdoors
wireless | wired
"""


def _states() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in filter(None, _STATES.splitlines()):
        labels = [each.split() for each in line.split("|")]
        for words in labels:
            for word in words:
                found.setdefault(word, {})[labels[0][0]] = words[0]
    return found


STATES: Mapping[str, Mapping[str, str]] = _states()
"""By word the groups it is of, each with the label that it stands for there."""
PREFIXES = ("un", "in", "dis", "non", "a", "im", "ir")

_NUMBER_WORDS = """
zero|one eins|two zwei|three drei|four vier|five fünf|six sechs|seven sieben|eight acht|nine neun|ten zehn|eleven elf|twelve zwölf
"""
NUMBER_WORDS: Mapping[str, int] = {
    word: value
    for value, words in enumerate(_NUMBER_WORDS.strip().split("|"))
    for word in map(fold, words.split())
}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
FIXED: Mapping[str, tuple[float, str]] = {
    "noon": (720.0, "clock"),
    "midnight": (0.0, "clock"),
    **{word: (float(value), "ordinal") for value, word in enumerate(_ORDINALS.split(), start=1)},
}
"""Words that are a number by themselves, with what it counts."""
_UNITS = """
seconds: s 1, sec 1, secs 1, seconds 1, min 60, mins 60, minute 60, minutes 60, minuten 60, h 3600, hour 3600, hours 3600, stunden 3600
days: day 1, days 1, tage 1, week 7, weeks 7, wochen 7
months: month 1, months 1, monate 1
bytes: kb 1e3, kib 1e3, mb 1e6, mib 1e6, gb 1e9, gib 1e9, tb 1e12, tib 1e12
metres: mm 0.001, cm 0.01, m 1, metre 1, metres 1, meter 1, meters 1, km 1000, kilometres 1000, kilometers 1000
grams: mcg 1e-6, µg 1e-6, μg 1e-6, micrograms 1e-6, mg 0.001, g 1, kg 1000
litres: ml 0.001, l 1, litre 1, litres 1, liter 1, liters 1
euros: € 1, euro 1, euros 1, eur 1
dollars: $ 1, dollar 1, dollars 1, usd 1
pounds: £ 1, gbp 1
percent: % 1, percent 1
degrees: ° 1, °c 1, degrees 1
"""
UNITS: Mapping[str, tuple[str, float]] = {
    word: (family, float(factor))
    for line in filter(None, _UNITS.splitlines())
    for family, _, listed in [line.partition(":")]
    for word, factor in (each.split() for each in listed.split(","))
}
