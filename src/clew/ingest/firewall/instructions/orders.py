"""Orders in words: to drop the rules, to be somebody else, to hide, to tell what is hidden, to send things away."""

from __future__ import annotations

from clew.ingest.firewall.instructions.rule import command, words

_RULES = (
    r"(?:instructions?|rules?|guidelines?|directives?|prompts?|polic(?:y|ies)|orders|constraints|restrictions|programming|training|"
    r"directions)"
)
_EARLIER = r"(?:previous|prev|prior|earlier|preceding|above|original|initial|your|ur|system|safety|content|foregoing|former|developer)"
_DROP = (
    r"(?:ignore|disregard|forget|override|bypass|discard|abandon|set aside|stop following|do not follow|don't follow|do not obey|"
    r"don't obey|pay no attention to|regardless of)"
)
_PERSONA = (
    r"(?:ai|assistant|model|bot|[a-z]{2,20}bot|dan|chatbot|agent|shell|terminal|hacker|administrator|admin|root|unrestricted|unfiltered|jailbroken|"
    r"assistent|ki|modell|entwicklermodus|modèle|asistente|modelo|assistente|modello)"
)

OVERRIDE = command(
    "override",
    [
        "ignor|disregard|forget|overrid|bypass|discard|abandon|follow|obey|void|cancel|revoke|invalid|suspend|obsolete|no longer|vergiss|"
        "vergesst|missacht|oubli|olvid|esque|dimentic|забудь|set aside|attention|regardless|supersede|replace|precedence|pas compte|omiso",
        "instruct|rule|guideline|directive|prompt|polic|orders|constraint|restriction|programming|training|direction|above|before|told|"
        "know|said|guidance|message|guardrail|safeguard|anweisung|vorgabe|regeln|instruktion|consigne|règles|instruc|reglas|instruç|regras|"
        "istruzioni|regole|инструкц|правила|указания",
    ],
    rf"{_DROP}{words(3)} {_EARLIER}{words(3)} {_RULES}\b",
    rf"{_DROP}{words(2)} (?:{_RULES}|guidance)(?: that)? "
    r"(?:you (?:were|have been|are) given|above|before this|(?:came|come|stand|stood) before)\b",
    rf"{_DROP}(?: the| all| any)? (?:(?:developer|system) (?:message|prompt)|policies|guardrails|safeguards)\b",
    rf"[^\n.]{{0,40}}\b(?:supersedes|replaces|overrides|takes precedence over) (?:all |any )?(?:of )?your{words(2)} {_RULES}\b",
    rf"{_DROP} (?:everything|anything|all)(?: of)?(?: that)?(?: is| was| stands)? (?:above|before|you were told|you know|said)\b",
    rf"(?:your|all)(?: of your| the)? (?:previous|prior|earlier|original|existing) {_RULES}(?: \w+){{0,3}}? "
    r"(?:are|is|have been) (?:hereby |now )?(?:void|cancell?ed|revoked|invalid|suspended|overridden|obsolete|no longer)",
    rf"(?:ignorier\w*|vergiss|vergesst|missachte\w*){words(3)} (?:\w*anweisung\w*|\w*vorgaben?|\w*regeln|\w*instruktion\w*)",
    rf"(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) pas compte){words(3)} (?:instructions|consignes|règles|directives)\b",
    rf"(?:ignor[ae]|olvid[ae]|esque[cç][ae]|dimentica|ha[zg]a? caso omiso){words(3)} "
    r"(?:instrucciones|reglas|instruções|regras|istruzioni|regole)\b",
    rf"(?:игнорируй|забудь|проигнорируй){words(3)} (?:инструкци\w+|правила|указания)",
)
PERSONA = command(
    "persona",
    [
        "you are no|you're no|from now on|from this point|starting now|henceforth|pretend|act as|behave as|respond as|roleplay|role-play|"
        "simulate| mode|bist du|du bist|tu es|vous êtes|eres|serás|a partir de agora|ты",
    ],
    rf"you(?: are|'re) (?:now|no longer){words(4)} {_PERSONA}\b",
    rf"(?:from now on|from this point on|starting now|henceforth),?{words(1)} (?:you{words(2)} (?:are|act|become){words(4)} {_PERSONA}\b|"
    r"you (?:must|will|shall)? ?(?:always|never|only) |"
    r"(?:you (?:must |will |shall )?|always |never |only )?(?:respond|answer|reply|obey|comply|agree) )",
    r"pretend (?:to be|that you are|you are|you're|you have)\b",
    rf"(?:act as|behave as|role-?play as|respond as|simulate)(?: an?| the| my| if you were)?{words(3)} {_PERSONA}\b",
    r"(?:enter|enable|activate|switch to) (?:developer|dan|god|jailbreak|unrestricted) mode\b"
    r"(?=[^\n]{0,80}(?:polic|restrict|filter|rule|limit|refus))",
    rf"(?:von jetzt an|ab sofort|ab jetzt) bist du{words(4)} {_PERSONA}\b",
    rf"du bist (?:jetzt|nun|ab sofort){words(3)} {_PERSONA}\b",
    rf"(?:à partir de maintenant|désormais),? (?:tu es|vous êtes){words(3)} {_PERSONA}\b",
    rf"(?:a partir de ahora|desde ahora),? (?:eres|serás){words(3)} {_PERSONA}\b",
    rf"a partir de agora,? (?:você é|és){words(3)} {_PERSONA}\b",
    rf"(?:с этого момента|теперь) ты{words(4)} (?:ассистент|модель|бот|администратор)",
)
# "Do not tell the customer before the contract is signed" is business: it says when they may know.
_SOMEBODY = r"(?:the |your |any )?(?:user|customer|human)\b(?![^.\n]{0,80}\b(?:until|before|unless)\b)"
CONCEAL = command(
    "concealment",
    [
        "user|customer|human|nutzer|anwender|utilisateur|client|usuario|usuário|cliente|пользовател",
        "do not|don't|never|without|keep|hide|nicht|ne |n'|no |não |не ",
    ],
    rf"(?:do not|don't|never) (?:ever )?(?:tell|inform|alert|notify|warn){words(1)} {_SOMEBODY}\b",
    rf"(?:do not|don't|never) (?:mention|reveal|disclose|say|report|show){words(5)} to {_SOMEBODY}\b",
    rf"(?:do not|don't|never) let {_SOMEBODY} (?:know|see|notice|find out)\b",
    rf"without (?:telling|informing|alerting|notifying) {_SOMEBODY}\b",
    rf"(?:keep|hide){words(4)} (?:secret |hidden )?from {_SOMEBODY}\b",
    rf"(?:sag\w*|verrat\w*|erzähl\w*|teil\w*) (?:dem|den|der) (?:be)?(?:nutzern?|anwendern?){words(3)} (?:nicht|nichts)\b",
    r"(?:erwähn\w*|verschweig\w*)[^\n.]{0,30}(?:dem|den|der) (?:be)?(?:nutzern?|anwendern?)",
    r"(?:ne |n')(?:dis|dites|mentionne|révèle|parle|informe)[sz]?(?: \w+){0,2} (?:pas|rien|jamais)[^\n.]{0,30}(?:utilisateur|client)",
    r"no (?:le |se lo )?(?:digas|diga|menciones|reveles|cuentes)[^\n.]{0,30}(?:usuario|cliente)",
    r"não (?:diga|conte|mencione|revele)[^\n.]{0,30}(?:usuário|cliente)",
    r"не (?:говори|сообщай|рассказывай) пользовател",
)
_TELL = r"(?:print|reveal|show|output|repeat|display|give me|tell me|write out|return|leak|dump|disclose|paste|recite)"
LEAK = command(
    "prompt_leak",
    [
        "prompt|instruction|rules|above|instruccion|anweisung|consigne|промпт|инструкции",
        "print|reveal|show|output|repeat|display|give me|tell me|write out|return|leak|dump|disclose|paste|recite|gib|zeig|nenn|wiederhol|"
        "affiche|montre|révèle|répète|muestra|revela|imprime|repite|покажи|выведи|напиши|раскрой",
    ],
    rf"{_TELL}{words(3)} (?:your|hidden|initial|the system|system){words(3)} (?:prompts?|instructions?|rules)\b",
    rf"{_TELL} (?:everything|all|the (?:text|words|lines))(?: that is| written)? above\b",
    rf"(?:gib|zeig\w*|nenn\w*|wiederhol\w*){words(2)} "
    rf"(?:(?:den )?system-?prompt\w*|(?:dein\w*|versteckt\w*){words(2)} (?:system-?prompt\w*|anweisungen))",
    rf"(?:affiche|montre|révèle|répète)[sz]?{words(2)} (?:ton|votre|tes|vos|le){words(2)} (?:prompts?|instructions|consignes)",
    rf"(?:muestra|revela|imprime|repite){words(2)} (?:tus|tu|el|las){words(2)} (?:prompt|instrucciones)",
    r"(?:покажи|выведи|напиши|раскрой)[^.\n]{0,20}(?:промпт|скрытые инструкции)",
)
