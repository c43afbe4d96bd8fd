"""Orders that reach out: to send things away, to call a tool; and texts that speak to a machine."""

from __future__ import annotations

from clew.ingest.firewall.instructions.rule import command, marker, words

_HELD = (
    r"(?:conversations?|chats?|history|memor(?:y|ies)|credentials?|passwords?|api keys?|keys|secrets?|tokens?|system prompt|"
    r"transcript|(?:user's|their|personal) \w+|contents? of|gesprächsverlauf|verlauf|passwörter|zugangsdaten|historique|"
    r"conversation|mots de passe|historial|conversación|contraseñas|histórico|conversa)"
)
_PLACE = r"(?:https?://|www\.|[\w.+-]{1,60}@[\w-]{1,60}\.\w)"
_SEND = (
    r"(?:send|post|forward|upload|e-?mail|transmit|submit|exfiltrate|leak|copy|schick\w*|send\w*|leite|lade|envoie[sz]?|envoyez|transmets|"
    r"envía|manda|reenvía|envie|invia)"
)
_PUT = r"(?:append|add|attach|put|encode|embed|include|insert)"
EXFILTRATION = command(
    "exfiltration",
    [
        "http|www.|@|url|link|query string",
        "send|post|forward|upload|mail|transmit|submit|exfiltrate|leak|copy|schick|leite|lade|envo|transmets|env|manda|invia|append|add|"
        "attach|put|encode|embed|include|insert",
    ],
    rf"(?:summari[sz]e|collect|gather|list|write down|copy|export|take)\b[^\n.]{{0,40}}\b(?:chat|conversation|memor(?:y|ies)|history|"
    rf"secrets|credentials|user (?:told|said|wrote)|user's)\b[^\n.]{{0,40}}\b(?:and|then) {_SEND}{words(4)} {_PLACE}",
    rf"{_SEND}{words(5)} (?:everything|all|what)(?: that)? (?:you (?:know|remember|have)|the user)\b[^\n.]{{0,60}} {_PLACE}",
    rf"{_SEND} the user's{words(2)} to {_PLACE}",
    rf"(?:render|show|load|display|open){words(3)} (?:image|picture|link|url){words(2)} {_PLACE}"
    r"[^\n]{0,80}\b(?:the user's|secrets|conversation|history)\b",
    rf"{_SEND}{words(6)} {_HELD}{words(6)}[\s:]{{1,3}}{_PLACE}",
    rf"{_PUT}{words(3)} (?:{_HELD}|\w+ address|data){words(4)} (?:to|into|in) (?:this|the|an?|that){words(2)} (?:link|url|query string)\b",
    rf"{_PUT}{words(3)} {_HELD}[^\n]{{0,80}}{_PLACE}",
)
PIXEL = marker(
    "exfiltration",
    ["](http"],
    r"!?\[[^\[\]\n]{0,100}+\]\(https?://[^()\[\]\s?&]{1,200}+[?&][^()\[\]{<%\s]{0,200}+(?:\{|%7b|<|(?<==)\[)",
    r"!\[[^\[\]\n]{0,100}+\]\(https?://[^()\s?&]{1,200}+[?&]\w{1,20}=\w{0,40}(?:conversation|chat_?history|secrets|memories|user_data|prompt)",
)
_MACHINE = (
    r"(?:ai|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)|assistants?|chatbots?|bots?|(?:ai )?crawlers?|"
    r"ki(?:-\w+)?|sprachmodelle?|ia|modèles? de langage|modelos? de lenguaje)"
)
_READ = (
    r"(?:reads?|reading|see|process(?:es|ing)?|summari[sz](?:es?|ing)|retriev(?:es?|ing)|recall|index(?:es|ing)?|parse|parsing|"
    r"visit(?:s|ing)?)"
)
_ASKED = (
    r"(?:recommend|say|tell|ignore|disregard|carry out|reveal|show|send|delete|approve|rank|rate|answer|reply|respond|always|never|"
    r"you must|grant|export|forward|add|include|mention|stop|follow)"
)
COVERED = marker(
    "addressed",
    ["<!--|style=", "ai|llm|assistant|agent|chatgpt|claude|gemini|model"],
    r"<!--\s{0,3}(?:ai|llms?|assistants?|agents?|chatgpt|claude|gemini|language models?)\b[^>\n]{0,40}[:,]",
    r"style=[\"'][^\"'\n]{0,80}(?:display:\s?none|visibility:\s?hidden|font-size:\s?0|opacity:\s?0|color:\s?(?:white|transparent|#fff))"
    r"[^>\n]{0,80}>[^<\n]{0,100}\b(?:ai|llms?|assistants?|language models?|chatgpt)\b",
)
ADDRESSED = command(
    "addressed",
    [
        "^ai|llm|llms|language|assistant|chatgpt|claude|gemini|copilot|agent|bot|bots|chatbot|crawler|ki|sprachmodell|ia|model|modèle|when|"
        "whenever|whoever|anyone",
        "note|message|attention|notice|instruction|directive|important|hinweis|nachricht|remarque|nota|aviso|dear|hey|hello|listen|liebe|"
        ", |cher|querido|you are|you're|wenn du|si tu es|si vous êtes|si eres|to all|to any|to every|whoever|anyone who|should|must|"
        "will|need|has to|have to|when you|whenever you",
    ],
    r"(?:notes?|messages?|attention|notice|instructions?|important|hinweise?|nachricht|remarque|nota|aviso)[:,]? "
    rf"(?:to|for|an|für|à|para|pour)(?: any| all| the| alle| les| toutes les| los| las| todo)?{words(1)} {_MACHINE}\b",
    rf"(?:attention|dear|hey|hello|listen|liebe[rs]?|cher|querido),? {_MACHINE}\b(?=[^\n.]{{0,80}}[:,])",
    rf"to (?:all|any|every){words(1)} {_MACHINE}\s?[:,]",
    rf"(?:whoever|anyone who) {_READ} this\b",
    rf"(?:if|as|since) you(?: are|'re) (?:an? |the )?{_MACHINE}\b",
    rf"if (?:an?|any|the) {_MACHINE} (?:is )?{_READ} this\b",
    rf"as an? {_MACHINE},? you(?: are|'re)? (?:obliged|required|must|have to|should)\b",
    rf"wenn du (?:eine? )?{_MACHINE} bist",
    rf"si (?:tu es|vous êtes|eres) une? {_MACHINE}\b",
    rf"(?:any |all )?{_MACHINE}(?: that| who)? {_READ}[^\n.]{{0,60}}\b(?:should|must|will|needs? to|has to|have to)\b",
    r"(?:llm|ai|model|assistant|agent) (?:instructions?|directives?|note)\s{0,2}:",
    rf"when(?:ever)? you {_READ} this\b[^\n]{{0,20}}[,:]",
    rf"(?:assistant|chatgpt|claude|gemini|copilot|chatbot|llm|ai), (?:please |now )?{_ASKED}\b",
    rf"(?<=, )assistant: {_ASKED}\b",
    r"(?<=, )(?:dear )?(?:assistant|chatgpt|claude|gemini|copilot|chatbot)[.!](?=\s|$)",
)
TOOL = command(
    "tool_call",
    ["tool|function|_|confirmation", "call|invoke|use|run|execute|send|transfer|delete|pay"],
    r"(?:call|invoke|execute|make a tool call to|make a call to) (?:the )?(?:tool |function )?[`'\"]?"
    r"(?:delete|remove|forget|wipe|erase|send|transfer|pay|exec|grant|approve|drop|export|upload)_\w{1,40}[`'\"]?"
    r"(?:\s?\(| (?:with|for|now|on)\b)",
    r"use (?:your|the)(?: \w{1,20})? tools? to \w{1,20}[^\n]{0,60}(?:https?://|\bcurl\b|\bwget\b|\brm -|passwords?\b)",
    r"(?:call|invoke|run|execute|send|transfer|pay|delete)\b[^\n]{0,80}\b(?:without asking for confirmation|no confirmation is needed|"
    r"do not ask for confirmation)",
    r"(?:call|invoke|use|run|execute) (?:the |your )?(?:tool|function) [`'\"]?\w+[_.]\w+",
)
