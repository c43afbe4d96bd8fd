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
    ["<|[inst]|[/inst]|system|###"],
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|eot_id|start_header_id|end_header_id)\|>",
    r"\[/?inst\]|<</?sys>>",
    r"^### ?(?:instructions?|response|system|assistant|human|user) ?:",
    r"^[\s>*#\[(-]{0,6}(?:new |updated )?(?:system|system prompt|system message|system instructions?)[\])]?\s{0,2}:?[\])*]{0,3}\s{0,3}"
    rf"(?<=[:\])*\s])(?<!\w\s){_ORDER}",
    rf"<(?:system|system_prompt|system-prompt|instructions?)>\s{{0,3}}{_ORDER}",
    r"</(?:context|document|documents|user|data|memory|untrusted|result|search_results)>\s{0,3}"
    r"(?:<(?:system|instructions?|assistant)>|(?:system|assistant)\s?:)",
    r"^\W{0,6}(?:begin|start of|end of)(?: the| new| of)?(?: the| new)? system (?:prompt|message|instructions?)\b",
)
CALL = marker(
    "tool_call",
    ["<tool|<function|<invoke|</tool|</function|</invoke|arguments|parameters|tool_input"],
    r"</?(?:tool_calls?|tool_use|function_calls?|function_call|invoke)(?:\s[^>\n]{0,100})?>",
    r"[\"']name[\"']\s{0,3}:\s{0,3}[\"'][\w.-]{1,60}[\"']\s{0,3},\s{0,3}[\"'](?:arguments|parameters|tool_input)[\"']\s{0,3}:\s{0,3}[{\"']",
)
