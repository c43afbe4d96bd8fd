"""Marks between which a model's own turns and calls lie: in a memory they are out of place, and may be taken for real."""

from __future__ import annotations

from clew.ingest.firewall.instructions.rule import marker

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
    ["<tool|<function|<invoke|</tool|</function|</invoke|arguments|parameters|tool_input|action input"],
    r"^[\s>*-]{0,6}action: ?\w+\s{0,3}\n\s{0,3}action input:",
    r"</?(?:tool_calls?|tool_use|function_calls?|function_call|invoke)(?:\s[^>\n]{0,100})?>",
    r"[\"']name[\"']\s{0,3}:\s{0,3}[\"'][\w.-]{1,60}[\"']\s{0,3},\s{0,3}[\"'](?:arguments|parameters|tool_input)[\"']\s{0,3}:\s{0,3}[{\"']",
)
