"""Claims of authority, orders that are to hold for every answer, and orders to remember."""

from __future__ import annotations

from clew.ingest.firewall.instructions.rule import command, marker, words

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
    rf"(?:this )?(?:message|note|notice|order)s?{words(1)} from (?:your|the){words(1)} {_RULERS}\b[^\n.]{{0,20}}:{words(3)} {_POWERS}\b",
    rf"as (?:the|an?|your){words(1)} {_RULERS},? i (?:hereby )?{_POWERS}\b",
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
    [
        "^answer|reply|replies|response|summary|asked|asks",
        "^every|each|all|whenever|when|if",
    ],
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
    ["^remember|memory|memorize|note|permanent|standing|lasting|absolute", "remember|memor|note |rule|instruction|order"],
    rf"(?:save|store|add|write|update|commit|record|put|note){words(3)} your (?:long-term |permanent )?memory\b(?! (?:card|stick))",
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
