"""English verbs as memories of problems use them: from how a sentence has them to how a question has them."""

from __future__ import annotations

_IRREGULAR = """
became:become began:begin broke:break built:build came:come caught:catch chose:choose cost:cost cut:cut drew:draw fell:fall
felt:feel forgot:forget found:find froze:freeze gave:give got:get grew:grow held:hold hit:hit hung:hang kept:keep knew:know led:lead
left:leave let:let lost:lose made:make meant:mean met:meet ran:run read:read rose:rise said:say saw:see sent:send set:set showed:show
shrank:shrink shut:shut slept:sleep spent:spend split:split stood:stand stuck:stick threw:throw told:tell took:take went:go woke:wake
won:win wrote:write
"""
_REGULAR = """
accept add allow answer appear arrive ask assume behave belong block bounce call cause change check choke claim clash close collide
compare compile complain confuse connect consume contain corrupt count crash create deadlock decide delay delete deliver demand depend
deploy deny detect differ disable disappear disconnect display double drain drift drop duplicate emit enable end enter exceed exhaust exit
expect expire explode exceed fail fill finish fire flap flood force format freeze happen ignore import include increase install interfere
introduce invalidate jump kill lack land lag last leak load lock log loop match merge migrate mismatch move need occur open overflow
overlap override overwrite panic parse pass pause pick pin point poll print process produce pull push queue raise reach react receive
recover reduce refuse reject release reload remain remove render repeat replace report request require reset resolve respond restart
result retry return reuse revert roll rotate round save scale seem serve share shift show skip slow spike spin stall start starve stay stop
strip succeed suffer swap switch sync terminate test time timeout tolerate trigger truncate trust try turn update upgrade use validate
vanish wait work wrap yield
"""
_DOUBLED = frozenset("drop flap lag log pin skip spin stop strip swap wrap".split())


def _past(base: str) -> str:
    """Return the regular past.

    >>> [_past(base) for base in ("fail", "stop", "retry", "cause", "delay")]
    ['failed', 'stopped', 'retried', 'caused', 'delayed']
    """
    if base in _DOUBLED:
        return f"{base}{base[-1]}ed"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    return f"{base}d" if base.endswith("e") else f"{base}ed"


def _third(base: str) -> str:
    """Return the form of the third person.

    >>> [_third(base) for base in ("fail", "crash", "retry", "go")]
    ['fails', 'crashes', 'retries', 'goes']
    """
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "o")) else f"{base}s"


_PAIRS = [pair.split(":") for pair in _IRREGULAR.split()] + [[_past(base), base] for base in _REGULAR.split()]
BASE_OF_PAST = {past: base for past, base in _PAIRS if past not in (base, "read")}  # "cut" and "read" may stand for either time
BASE_OF_THIRD = {_third(base): base for _, base in _PAIRS}
AUXILIARIES = frozenset("is are was were has have had can could did does do will would must should cannot".split())
NEGATED = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "hasn't": "has", "haven't": "have", "hadn't": "had",
    "can't": "can", "couldn't": "could", "didn't": "did", "doesn't": "does", "don't": "do", "won't": "will", "wouldn't": "would",
    "mustn't": "must", "shouldn't": "should",
}  # fmt: skip
REMEDIES = {
    "fixed": "fix", "fixes": "fix", "solved": "solve", "solves": "solve", "resolved": "resolve", "resolves": "resolve", "cured": "cure",
    "cures": "cure", "prevented": "prevent", "prevents": "prevent", "avoided": "avoid", "avoids": "avoid",
}  # fmt: skip
