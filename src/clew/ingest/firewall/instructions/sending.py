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
    rf"{_SEND}{words(6)} {_HELD}{words(6)}[\s:]{{1,3}}{_PLACE}",
    rf"{_PUT}{words(3)} (?:{_HELD}|\w+ address|data){words(4)} (?:to|into|in) (?:this|the|an?|that){words(2)} (?:link|url|query string)\b",
    rf"{_PUT}{words(3)} {_HELD}[^\n]{{0,80}}{_PLACE}",
)
PIXEL = marker(
    "exfiltration",
    ["](http"],
    r"!?\[[^\[\]\n]{0,100}+\]\(https?://[^()\[\]\s?&]{1,200}+[?&][^()\[\]{<%\s]{0,200}+(?:\{|%7b|<|(?<==)\[)",
)
_MACHINE = (
    r"(?:ai|a\.i\.|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)|assistants?|chatbots?|bots?|(?:ai )?crawlers?|"
    r"ki(?:-\w+)?|sprachmodelle?|ia|modèles? de langage|modelos? de lenguaje)"
)
_READ = (
    r"(?:reads?|reading|see|process(?:es|ing)?|summari[sz](?:es?|ing)|retriev(?:es?|ing)|recall|index(?:es|ing)?|parse|parsing|"
    r"visit(?:s|ing)?)"
)
ADDRESSED = command(
    "addressed",
    [
        "ai|a.i.|llm|language model|assistant|bot|crawler|ki|sprachmodell|ia|modèle|modelo|when you|whoever|anyone who",
        "note|message|attention|notice|instruction|directive|important|hinweis|nachricht|remarque|nota|aviso|dear|hey|hello|listen|liebe|"
        "cher|querido|you are|you're|wenn du|si tu es|si vous êtes|si eres|to all|to any|to every|whoever|anyone who|should|must|"
        "will|need|has to|have to|when you|whenever you",
    ],
    r"(?:notes?|messages?|attention|notice|instructions?|important|hinweise?|nachricht|remarque|nota|aviso)[:,]? "
    rf"(?:to|for|an|für|à|para|pour)(?: any| all| the| alle| les| toutes les| los| las| todo)?{words(1)} {_MACHINE}\b",
    rf"(?:attention|dear|hey|hello|listen|liebe[rs]?|cher|querido),? {_MACHINE}\b(?=[^\n.]{{0,80}}[:,])",
    rf"to (?:all|any|every){words(1)} {_MACHINE}\s?[:,]",
    rf"(?:whoever|anyone who) {_READ} this\b",
    rf"(?:if|as|since) you(?: are|'re) (?:an? |the )?{_MACHINE}\b",
    rf"wenn du (?:eine? )?{_MACHINE} bist",
    rf"si (?:tu es|vous êtes|eres) une? {_MACHINE}\b",
    rf"(?:any |all )?{_MACHINE}(?: that| who)? {_READ}[^\n.]{{0,60}}\b(?:should|must|will|needs? to|has to|have to)\b",
    r"(?:llm|ai|model|assistant|agent) (?:instructions?|directives?|note)\s{0,2}:",
    rf"when(?:ever)? you {_READ} this\b[^\n]{{0,20}}[,:]",
    # Half of all texts hold an "ai" in the midst of a word.
    gate=r"ai\b|a\.i\.|agent|anyone who|assistant|bot|chatbot|crawler|ia\b|ki\b|llm|language model|mod[eè]l|sprachmodell|"
    r"when(?:ever)? you|whoever",
)
TOOL = command(
    "tool_call",
    ["tool|function|action input", "call|invoke|use|run|execute|action:"],
    r"(?:call|invoke|use|run|execute) (?:the |your )?(?:tool|function) [`'\"]?\w+[_.]\w+",
    r"action: ?\w+\s{0,3}\n\s{0,3}action input:",
)
