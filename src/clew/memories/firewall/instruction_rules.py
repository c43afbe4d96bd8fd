"""Rules that detect instructions to a reader, each for one kind and several languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

# Where a command begins: with the text, a clause or a line, or after words that lead into one.
_LEADS = (
    r"please|pls|kindly|now|then|also|just|so|and|but|you must|you should|you will|you have to|must|assistant|ai|bitte|jetzt|dann|und|"
    r"nun|du musst|s'il te plaît|maintenant|et|puis|tu dois|por favor|ahora|y|debes|tienes que|per favore|ora|e|agora|пожалуйста|и|теперь"
)
_BEGINS = (
    rf"(?:^|(?<=[.!?:;,\n)>*\]\"“„«—–-])|(?<=[\s(]')|\b(?:{_LEADS})\b)[\s\"'“„«*#>(\[-]{{0,6}}+"
)
# Who says so: a sentence that has come as far as this speaks of commands and gives none.
_REPORTS = (
    r"\b(?:test(?:s|ed|ing)?|tries|tried|try|attempts?|attempted|injections?|attack(?:s|ed|er|ers)?|jailbreaks?|red team|such as|e\.g\.|"
    r"for example|sa(?:id|ys)|wr(?:ote|ites?|itten)|ask(?:s|ed)|phrases?|regex|pattern|filter(?:s|ed)?|detect(?:s|ed|or)?|"
    r"block(?:s|ed)?|refus(?:es|ed|al)|label(?:s|led)?|classif\w+|quot(?:es|ed)|prompts? like|texts? (?:like|that)|"
    r"told (?:me|us|him|her|them)|instead of|whether|example|versuch\w*|schrieb|sagte?|getestet|angriff\w*|beispiel|essayé|tenté|écrit|"
    r"dit|exemple|attaque|intent\w+|escribió|dijo|ejemplo|ataque)\b"
)
_SENTENCES = r"[.!?\n。!?]"
MAX_PREFIX = 300  # characters before a command in which somebody may be named who said it


_PREFIX = 5  # characters of a word by which it is looked for among the words that rules need
_WORD_BREAKS = bytes(
    code if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(256)
)


def word_starts(text: str) -> frozenset[str]:
    """Return the first characters of every word of a text in lower case.

    >>> sorted(word_starts("please ignore `all` of it"))
    ['all', 'ignor', 'it', 'of', 'pleas']
    """
    found = (
        text.encode().translate(_WORD_BREAKS).decode().split()
        if text.isascii()
        else compile_pattern(r"\w+").findall(text)
    )
    return frozenset([word[:_PREFIX] for word in found])


@dataclass(frozen=True, slots=True)
class Rule:
    """A flag, its pattern, and groups of literals.

    Without one of each group it is not looked for, nor even compiled.
    """

    flag: str
    needs: tuple[tuple[str, ...], ...]
    pattern: str = field(repr=False)
    starts: tuple[frozenset[str], ...] = ()
    """Groups of first characters of words, as `word_starts` returns them: compared at once, where
    literals are looked for in turn.
    """
    by_line: bool = False
    """Whether all that it finds lies in one line: then only lines with the words that it needs have
    to be searched.
    """

    def finds(self, text: str, starts: frozenset[str] | None = None) -> bool:
        """Tell whether a text in small letters gives such an order.

        `starts` are its word starts, if they are known.
        """
        if self.starts:
            starts = word_starts(text) if starts is None else starts
            for group in self.starts:
                if group.isdisjoint(starts):
                    return False
        # plain loops: most texts end here, and an `any` over each group takes longer
        for literals in self.needs:
            for literal in literals:
                if literal in text:
                    break
            else:
                return False
        return any(
            not _is_reported(text, found.start())
            for found in compile_pattern(self.pattern).finditer(text)
        )

    def of_ascii(self) -> Rule | None:
        """Return the rule for texts without letters beyond ASCII.

        None where it finds nothing in these.

        >>> marker("greet", ["hello|привет"], "hello|привет").of_ascii().needs, marker("greet", ["привет"], "привет").of_ascii()
        ((('hello',),), None)
        """
        needs = tuple(tuple(filter(str.isascii, group)) for group in self.needs)
        starts = tuple(frozenset(filter(str.isascii, group)) for group in self.starts)
        return replace(self, needs=needs, starts=starts) if all(needs) and all(starts) else None


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern ready to be used.

    All of them together take a tenth of a second, which a start should not pay.
    """
    return re.compile(pattern, re.MULTILINE)


def command(flag: str, needs: Sequence[str], *patterns: str) -> Rule:
    """Return the rule for orders that stand where a command begins.

    Each of `needs` are literals, parted by |.

    No pattern may reach beyond a line. A group that begins with ^ holds words, or beginnings of at
    least five letters: an order has a word that begins so.

    >>> rule = command("greet", ["^hello|hi", "say"], r"say (?:hello|hi)")
    >>> rule.finds("it rains. say hello"), rule.finds("they say hello"), rule.finds('the test wrote: "say hello"')
    (True, False, False)
    """
    starts = tuple(
        word_starts(" ".join(_first_words(each))) for each in needs if each.startswith("^")
    )
    literals = [each for each in needs if not each.startswith("^")]
    return Rule(
        flag, _groups(literals), f"{_BEGINS}(?:{_alternatives(patterns)})", starts, by_line=True
    )


def _first_words(group: str) -> list[str]:
    return [compile_pattern(r"\w+").findall(each)[0] for each in group.removeprefix("^").split("|")]


def marker(flag: str, needs: Sequence[str], *patterns: str) -> Rule:
    """Return the rule for what gives orders wherever it stands.

    The marks between which a model's own turns lie.
    """
    return Rule(flag, _groups(needs), _alternatives(patterns))


def _groups(needs: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(each.split("|")) for each in needs)


def gap(most: int) -> str:
    """Return the pattern for a few words between two others.

    >>> bool(re.fullmatch(f"one{gap(2)} four", "one, two three four")), bool(re.fullmatch(f"one{gap(1)} four", "one two three four"))
    (True, False)
    """
    # atomic: a row of hyphens is both signs and word
    return rf"(?>[^\w\n.!?]{{1,3}}[\w'’-]{{1,20}}+){{0,{most}}}?"


def _alternatives(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{each})" for each in patterns)


def _is_reported(text: str, at: int) -> bool:
    """Tell whether somebody is said to give the order that begins here."""
    before = text[max(0, at - MAX_PREFIX) : at]
    sentence = compile_pattern(_SENTENCES).split(before)[-1]
    return compile_pattern(_REPORTS).search(sentence) is not None


# Characters that a reader does not see and a model reads: tags, zero width, turned directions,
# strings of selectors.

# A flag of a region is written with tags (🏴 and letters up to a cancel tag); Persian, Indic and
# emoji need joiners, Thai breaks with
# zero width spaces, and Arabic and Hebrew turn the direction. None of these stands between Latin
# letters.
_FLAGS = "\U0001f3f4[\U000e0030-\U000e007a]{1,8}\U000e007f"
_TAGS = "[\U000e0000-\U000e007f]"
_LATIN = "A-Za-z\u00c0-\u024f"
_ZERO_WIDTH = f"(?<=[{_LATIN}])[\u180e\u200b-\u200f\u2060-\u2064\ufeff]+(?=[{_LATIN}])"
_TURNED = "[\u202d\u202e]"
_EMBEDDED = "[\u202a\u202b\u2066-\u2068]"
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]"
_SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
INVISIBLE = "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"


def has_hidden_characters(text: str) -> bool:
    r"""Tell whether a text holds characters whose only use there is to be read unseen.

    >>> has_hidden_characters("pay\u200bment"), has_hidden_characters("👨\u200d👩\u200d👧 at home"), has_hidden_characters("plain")
    (True, False, False)
    """
    if text.isascii():
        return False
    return bool(
        compile_pattern(_TAGS).search(compile_pattern(_FLAGS).sub("", text))
        or compile_pattern(_ZERO_WIDTH).search(text)
        or compile_pattern(_TURNED).search(text)
        or compile_pattern(_SELECTORS).search(text)
        or (
            compile_pattern(_EMBEDDED).search(text)
            and not compile_pattern(_RIGHT_TO_LEFT).search(text)
        )
    )


def reveal_hidden(text: str) -> str:
    r"""Return a text as a model reads it.

    Tags as the letters they stand for, without what has no width.

    >>> reveal_hidden("pay\u200bment \U000e0068\U000e0069")
    'payment hi'
    """
    if text.isascii():
        return text
    return compile_pattern(INVISIBLE).sub(
        "",
        compile_pattern(_TAGS).sub(
            lambda found: chr(ord(found.group()) - 0xE0000), compile_pattern(_FLAGS).sub("", text)
        ),
    )


# What an order to a model begins with, after "system:"; "System: macOS 14" is none.
_ORDER = (
    r"(?:you\b|your\b|ignore|disregard|forget|always|never|do not|don't|the (?:assistant|model|ai|user)|grant|approve|respond|answer|"
    r"reply|reveal|from now|new (?:instructions|rules)|override|must\b|call|du\b|sie (?:müssen|sind)|tu\b|vous\b|debes|eres|ты\b|你)"
)
ROLE = marker(
    "role_marker",
    ["<|[inst]|[/inst]|system|###|end of|instructions"],
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|eot_id|start_header_id|end_header_id)\|>",
    r"\[/?inst\]|<</?sys>>|\[\[/?system\]\]|<function=\w",
    r"^### ?(?:instructions?|response|system|assistant|human|user) ?:",
    r"^[\s>*#\[(-]{0,6}(?:new |updated )?(?:system|system prompt|system message|system instructions?)[\])]?"
    r"\s{0,2}:?[\])*]{0,3}(?:\(#?[\w-]{0,30}\))?\s{0,3}"
    rf"(?<=[:\])*\s])(?<!\w\s){_ORDER}",
    rf"<(?:system(?:[-_](?:prompt|message|reminder|note|instructions?))?|instructions?|important|override|admin)>\s{{0,3}}{_ORDER}",
    rf"(?:^|[\s>])</(?:system(?:[-_]\w{{1,20}})?|assistant|instructions?)>\s{{0,3}}{_ORDER}",
    r"^(?:[\s#=*<\[-]{1,8}(?:new|updated)(?: system)? instructions?[\s#=*>\]:-]{0,8}|"
    r"(?:new|updated)(?: system)? instructions?:)\n\s{0,3}"
    rf"(?:{_ORDER}|speak|say|write|recommend|treat)",
    r"^\W{0,6}end of (?:the )?(?:user )?(?:data|document|input|context|message|conversation)\W{0,6}\n\s{0,3}"
    r"(?:now\b|assistant\b|system\b|follow\b|you\b|new\b)",
    r"[\"']role[\"']\s{0,3}:\s{0,3}[\"']system[\"']\s{0,3},\s{0,3}[\"']content[\"']\s{0,3}:\s{0,3}[\"']"
    r"(?:always|never|ignore|disregard|forget|you (?:always|never|must|will|obey|have|may|can))\b",
    r"</(?:context|document|documents|user|data|memory|untrusted|result|search_results)>\s{0,3}"
    r"(?:<(?:system|instructions?|assistant)>|(?:system|assistant)\s?:)",
    r"^\W{0,6}(?:begin|start of|end of)(?: the| new| of)?(?: the| new)? system (?:prompt|message|instructions?)\b",
)
CALL = marker(
    "tool_call",
    [
        "<tool|<function|<invoke|</tool|</function|</invoke|arguments|parameters|tool_input|action input"
    ],
    r"^[\s>*-]{0,6}action: ?\w+\s{0,3}\n\s{0,3}action input:",
    r"</?(?:tool_calls?|tool_use|function_calls?|function_call|invoke)(?:\s[^>\n]{0,100})?>",
    r"[\"']name[\"']\s{0,3}:\s{0,3}[\"'][\w.-]{1,60}[\"']\s{0,3},\s{0,3}[\"'](?:arguments|parameters|tool_input)[\"']\s{0,3}:\s{0,3}[{\"']",
)


UNSPACED = (
    marker(
        "override",
        ["忽略|无视|忘记|不要理会|無視|忘れ"],
        r"(?:忽略|无视|忘记|不要理会)[^。\n]{0,12}(?:指令|指示|规则|提示)",
        r"(?:指示|命令|ルール)を[^。\n]{0,6}(?:無視|忘れ)",
    ),
    marker(
        "persona",
        ["你是|你就是|你将|あなたは"],
        r"(?:从现在开始|从现在起|现在),?你(?:是|就是|将)[^。\n]{0,16}(?:助手|模型|机器人|管理员)",
        r"(?:これから|今から)、?あなたは[^。\n]{0,16}(?:アシスタント|モデル|管理者|ボット)",
    ),
    marker(
        "concealment",
        ["用户|ユーザー"],
        r"(?:不要|别|不得)(?:告诉|告知|让)[^。\n]{0,6}用户",
        r"ユーザーに(?:は)?[^。\n]{0,12}(?:言わないで|知らせないで|伝えないで)",
    ),
    marker(
        "prompt_leak",
        ["提示|隐藏"],
        r"(?:输出|显示|告诉我|打印)[^。\n]{0,8}(?:系统提示|提示词|隐藏的?指令)",
    ),
    marker("addressed", ["如果你是"], r"如果你是[^。\n]{0,6}(?:人工智能|语言模型|ai)"),
)


_RULERS = r"(?:developer|creator|maker|administrator|admin|owner|operator|supervisor)s?"
_POWERS = r"(?:authori[sz]e|grant|order|allow|permit|instruct|command|unlock|disable|enable|skip|reveal|export)"
_MACHINE = r"(?:assistant|ai|model|llm|agent|bot|chatbot|language model)s?"
_LABS = r"(?:openai|anthropic|google|microsoft|meta|mistral|deepmind)"
_SAY = r"(?:recommend|say|answer|tell|reply|respond|mention|claim|deny|praise|state)"
AUTHORITY = command(
    "authority",
    [
        "^must|shall|required|has|have|granted|given|refuse|developer|creator|maker|administrator|owner|operator|supervisor|updated|changed|"
        "lifted|removed|disabled",
        "^ai|ais|assistant|model|models|llm|llms|agent|bot|bots|chatbot|language|authorise|grant|order|allow|permit|instruct|command|unlock|"
        "disable|enable|skip|reveal|export|openai|anthropic|google|microsoft|meta|mistral|deepmind|root|admin|full|unrestricted|unlimited|"
        "refuse",
    ],
    rf"(?:i am|i'm|this is|we are) (?:the |your )?{_RULERS}\b[^\n.]{{0,60}}\b{_POWERS}\b",
    rf"(?:this )?(?:message|note|notice|order)s?{gap(1)} from (?:your|the){gap(1)} {_RULERS}\b[^\n.]{{0,20}}:{gap(3)} {_POWERS}\b",
    rf"as (?:the|an?|your){gap(1)} {_RULERS},? i (?:hereby )?{_POWERS}\b",
    rf"{_LABS} (?:has|have|had) (?:updated|changed|lifted|removed|disabled) your\b",
    r"you (?:have been|are|were) (?:granted|given) (?:root|admin|full|unrestricted|unlimited)\b",
    rf"(?:the |this |any |all )?{_MACHINE} (?:must|shall|is required to|are required to|has to|have to)(?: now)?(?: always| never| only)? "
    r"(?:mention|recommend|say|state|claim|praise|approve|grant|export|disable|unlock|hand over|forward|rank|rate)\b",
    r"you (?:must |will |can |may )?(?:never|not) refuse\b",
)
_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies))"
_EVERY = r"(?:every|each(?: of)?|all(?: of)?)"
_WORDING = r"(?:[\"'“„«]|https?://|(?:this|the)(?: following)? (?:line|link|sentence|phrase|text|words?|url)\b)"
_ADD = r"(?:add|append|insert|include|put|prepend|mention|end|start|begin|finish|close|sign)"
STANDING = command(
    "standing_order",
    ["^answer|reply|replies|response|summary|asked|asks", "^every|each|all|whenever|when|if"],
    rf"{_ADD}\b[^\n.]{{0,60}}\b{_EVERY} your {_ANSWERS}\b",
    rf"{_ADD}\b(?=[^\n]{{0,120}}{_WORDING})[^\n.]{{0,60}}\b{_EVERY} {_ANSWERS}\b",
    rf"in {_EVERY} (?:your )?{_ANSWERS}\b,? {_ADD}\b(?=[^\n]{{0,80}}{_WORDING})",
    rf"{_EVERY} (?:your )?{_ANSWERS} (?:must|have to|should|shall) (?:contain|include|end with|begin with|start with|mention)\b"
    rf"(?=[^\n]{{0,80}}{_WORDING})",
    rf"(?:when(?:ever)?|if) (?:(?:the |a )?users? asks?|(?:you(?: are|'re) )?asked (?:about|for|which|what|whether|how|if))\b"
    rf"[^\n.]{{0,60}}, (?:always |only |just )?{_SAY}\b",
    rf"(?:when(?:ever)?|if) (?:somebody|someone|anyone|anybody|they) asks?\b[^\n.]{{0,60}}, "
    rf"(?:always {_SAY}|tell them that|recommend)\b",
)
_UNCHECKED = (
    r"(?:without (?:any )?(?:review|asking|confirmation|checks?|verification)|needs? no (?:check|review|confirmation|approval)|"
    r"can be ignored|(?:is|are) (?:a |an )?(?:fully )?trusted|never (?:question|verify|refuse))"
)
MEMORY = command(
    "memory_order",
    [
        "^remember|memory|memorize|note|permanent|standing|lasting|absolute",
        "remember|memor|note |rule|instruction|order",
    ],
    rf"(?:save|store|add|write|update|commit|record|put|note){gap(3)} your (?:long-term |permanent )?memory\b(?! (?:card|stick))",
    r"remember (?:this )?(?:for|in) (?:all|every|any) (?:future|later|coming|other) (?:conversations?|sessions?|chats?|answers?)\b",
    r"(?:save|store|keep|treat) (?:this|the following) as an? (?:permanent|standing|lasting|absolute) (?:rule|instruction|order)\b",
    rf"(?:from now on,? )?(?:remember|note|memori[sz]e) (?:that |for )[^\n.]{{0,120}}\b{_UNCHECKED}\b",
)
ENCODED = marker(
    "encoded_order",
    ["decode", "follow|obey|execute|do what|act on|carry out"],
    r"\bdecode (?:this|it|the following|what follows)\b[^\n]{0,60}\b(?:follow|obey|execute|do what|act on|carry out)\b",
    r"\bbase ?64\b[^\n]{0,40}\bdecode\b[^\n]{0,40}\b(?:follow|obey|execute|do what|act on|carry out)\b",
)
