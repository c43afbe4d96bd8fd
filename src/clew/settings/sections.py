"""The settings, by section, with their defaults: the numbers are the mission's unless a comment says otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from clew.settings.feature_weights import FEATURE_WEIGHTS
from clew.settings.spec import Weights, setting
from clew.user_files import expanded

ANY_COUNT = (0, math.inf)
POSITIVE = (1, math.inf)
UNIT = (0.0, 1.0)
COSINE = (-1.0, 1.0)


class Section:
    """Compares and shows by value. Written once: generated for each of the ten classes it costs 3 ms at every start."""

    def __eq__(self, other: object) -> bool:
        """Tell whether all values are equal."""
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mappings inside: `config_hash` is the identity

    def __repr__(self) -> str:
        """Show the values as the call that makes them."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoreSettings(Section):
    """Where memories are kept, and how safely."""

    path: str = setting("~/.local/share/clew/memory.clew", "The store file; CLEW_STORE is the short form.")
    synchronous: str = setting(
        "FULL", "FULL: an acknowledged write survives a power cut; NORMAL: a killed process only.", choices=("FULL", "NORMAL")
    )
    busy_timeout_seconds: float = setting(30.0, "How long a writer waits for another process.", within=(0, 3600))
    space: str = setting("default", "The space (tenant) used when none is named; CLEW_SPACE is the short form.")

    @property
    def file(self) -> Path:
        """The store file with `~` expanded."""
        return expanded(self.path)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MemorySettings(Section):
    """What a memory may be (V1, V2)."""

    categories: tuple[str, ...] = setting(
        (
            "fact",
            "observation",
            "action",
            "plan",
            "decision",
            "preference",
            "procedure",
            "event",
            "insight",
            "feedback",
            "question",
            "note",
        ),
        "The categories a memory may have; a list here replaces the default.",
    )
    default_category: str = setting("observation", "The category of a memory that names none.")
    triggers: tuple[str, ...] = setting(
        ("problem-solution", "learning-failure", "feedback", "observation", "decision", "instruction", "correction"),
        "What may have caused a memory to be written; a list here replaces the default.",
    )
    default_importance: float = setting(0.5, "The importance of a memory that names none.", within=UNIT)
    min_characters: int = setting(
        12, "A shorter text is rejected (too_short); a sign of a script without spaces, or of Korean, counts as two.", within=POSITIVE
    )
    max_characters: int = setting(4000, "A longer text is rejected (too_long): import it as a document.", within=POSITIVE)
    max_keywords: int = setting(10, "How many keywords are kept with a memory.", within=(0, 1000))
    max_title_characters: int = setting(200, "The longest title.", within=POSITIVE)
    max_tags: int = setting(32, "The most tags a memory may have.", within=ANY_COUNT)
    max_metadata_bytes: int = setting(16384, "The largest metadata of a memory, as JSON.", within=(2, math.inf))
    auto_supersede: bool = setting(
        False, "Let a new dynamic memory supersede by itself the one dynamic memory of the same title and category that is true then."
    )
    batch_size: int = setting(256, "How many memories one transaction of a batch writes.", within=(1, 10_000))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DuplicateSettings(Section):
    """When a text counts as one we already have (V3, V4)."""

    exact: bool = setting(True, "Reinforce the memory with the same normalised text instead of adding a second.")
    near: bool = setting(
        True, "Reinforce a near memory instead of adding a second, where the text adds no word, speaker, title or time to it."
    )
    near_threshold: float = setting(
        0.8, "From where on two memories are near: 0 is the model's cosine of unrelated texts, 1 of equal ones.", within=UNIT
    )
    near_neighbours: int = setting(50, "How many nearest live memories are compared.", within=(1, 1000))
    near_threshold_by_category: Mapping[str, float] = setting({}, "The near_threshold of single categories.", within=UNIT)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FirewallSettings(Section):
    """What is watched for where texts come in (X8)."""

    secrets: str = setting(
        "redact",
        "redact: keys, tokens and passwords are taken out; refuse: such a text is rejected (secret); allow: it is kept as it is.",
        choices=("redact", "refuse", "allow"),
    )
    cards: bool = setting(False, "Take payment card numbers for secrets too.")
    instructions: str = setting(
        "flag",
        "flag: text that gives its reader orders is kept, and served with a flag and low trust; archive: kept and not served until "
        "unarchived; refuse: rejected (instruction).",
        choices=("flag", "archive", "refuse"),
    )
    echo: bool = setting(True, "Do not store again as new what Clew itself returned lately (rule echo); on_duplicate insert overrides it.")
    echo_minutes: float = setting(240.0, "For how long what was returned is recognised.", within=(0, 100_000))
    echo_share: float = setting(
        1.0,
        "The share of a text's words, wrapping aside, that must have been returned; what is added is never a number or a name.",
        within=(0.5, 1.0),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EntitySettings(Section):
    """What is noted of the names in a text (V8)."""

    enabled: bool = setting(True, "Note what memories and chunks name and are about.")
    extractor: str = setting(
        "rules", "What finds names: the rules, or a library that you have installed.", choices=("rules", "spacy", "gliner")
    )
    model: str = setting("default", "The library's model, by name or folder; default: its small one for English.")
    least_confidence: float = setting(0.75, "What is less sure to be a name is not noted.", within=UNIT)
    most: int = setting(10, "The most names that are noted of one text.", within=(0, 1000))
    openings: bool = setting(True, "Take a memory to tell of what its text begins with: a heading, or a name.")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RelatedSettings(Section):
    """Which memories are linked because they say similar things (V9)."""

    enabled: bool = setting(True, "Link a new memory to those that say similar things, where near duplicates are looked for.")
    least: float = setting(0.4, "From where on two memories are related, on the scale of duplicates.near_threshold.", within=UNIT)
    most: int = setting(
        10, "With how many earlier memories a new one is linked, and with how many later ones it is in its turn.", within=(0, 100)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QuestionSettings(Section):
    """Which questions a memory is also found by (V10)."""

    # Off: on 62 questions of our own, those made by rule put 54 answers first where 53 are without (tests/recall/test_question_channel.py).
    enabled: bool = setting(False, "Make, for memories with one of the triggers, the questions that they answer.")
    triggers: tuple[str, ...] = setting(("problem-solution", "learning-failure"), "The triggers of the memories that get questions.")
    generator: str = setting("rules", "What makes them: rules for English, or a language model.", choices=("rules", "llm"))
    most: int = setting(2, "How many questions are kept with a memory.", within=(1, 2))
    match: bool = setting(True, "Let the questions of memories be matched in a recall.")
    share: float = setting(
        0.6, "The share of the best question in what a memory with questions means (V13); its text has the rest.", within=UNIT
    )
    endpoint: str = setting("http://127.0.0.1:11434/v1", "Where the language model is asked, by the chat protocol of OpenAI.")
    model: str = setting("none", "The language model's name at the endpoint; the generator llm needs one.")
    key_env: str = setting("OPENAI_API_KEY", "The environment variable that holds the endpoint's key, if it wants one.")
    timeout_seconds: float = setting(20.0, "How long an answer of the language model is waited for.", within=(0.1, 600))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SubstanceSettings(Section):
    """Which texts hold nothing worth recalling (V5)."""

    enabled: bool = setting(True, "Reject texts without substance.")
    min_telling_words: int = setting(
        1, "The fewest different words that tell something: no stop words, chatter or light verbs.", within=(0, 100)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelSettings(Section):
    """Which model makes the vectors."""

    embedder: str = setting("arctic-embed-s", "The embedding model, by its name in `clew models list`.")
    auto_pull: bool = setting(True, "Fetch the model when it is first wanted; CLEW_OFFLINE=1 forbids it too.")
    token_codes: bool = setting(
        True, "Keep one bit of each number of a text's token vectors for late interaction: 48 bytes a token with the default model."
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecallSettings(Section):
    """How candidates are found and fused (U7)."""

    k: int = setting(10, "How many hits a recall returns.", within=(1, 1000))
    recipe: str = setting(
        "balanced",
        "The list of stages a recall runs.",
        choices=("fast", "balanced", "thorough", "reranked", "agent", "staged", "passages", "lexical", "dense"),
    )
    preset: str = setting("semantic", "The weights of the score: a name of score.presets.")
    candidates: int = setting(100, "How many candidates each channel brings.", within=(1, 10_000))
    dense_floor: float = setting(
        -0.1, "What is less similar is no dense candidate: 0 is the model's cosine of an unrelated text, 1 the highest.", within=COSINE
    )
    fusion: str = setting("weighted", "How channels are fused: a weighted sum of scores, or reciprocal ranks.", choices=("weighted", "rrf"))
    rrf_k: int = setting(60, "The k of reciprocal-rank fusion: score = sum of weight / (k + rank).", within=ANY_COUNT)
    rrf_dense_weight: float = setting(0.7, "The weight of the dense channel in rank fusion.", within=UNIT)
    rrf_sparse_weight: float = setting(0.3, "The weight of the sparse channel in rank fusion.", within=UNIT)
    weights: Mapping[str, float] = setting(
        FEATURE_WEIGHTS,
        "How much each feature counts in the relevance; those named here replace the defaults, and 0 turns a feature off.",
        within=UNIT,
    )
    late_interaction: bool = setting(True, "Compare the query token by token with the best candidates (MaxSim).")
    code_features: bool = setting(True, "Rank source code by file name, definition and kind of file, and spread its hits over files.")
    times: bool = setting(True, "Use the times that a question names: its period, and the latest or earliest if it asks for that.")
    relevance_gate: str = setting(
        "flag",
        "Hits that seem to answer nothing: on returns none of them, flag returns them as nothing_relevant, off does not judge.",
        choices=("on", "flag", "off"),
    )
    min_similarity: float = setting(0.0, "A hit with a lower similarity is not returned.", within=COSINE)
    budget_tokens: int = setting(0, "The most tokens a recall returns; 0 is no limit.", within=ANY_COUNT)
    max_query_characters: int = setting(20_000, "The longest question.", within=POSITIVE)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GateSettings(Section):
    """Which chunks are not worth a reader's time (U9); memories always pass."""

    always: bool = setting(False, "Judge chunks in every recipe, not in the recipe agent alone.")
    min_quality: float = setting(0.4, "A chunk of lower quality is turned away.", within=UNIT)
    min_words: int = setting(30, "A shorter chunk is turned away unless its context could be added.", within=ANY_COUNT)
    excluded_stubs: tuple[str, ...] = setting(("media", "reference", "breadcrumb"), "The kinds of stub that are turned away.")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RerankSettings(Section):
    """How the best hits are read once more beside the question (U11)."""

    always: bool = setting(False, "Rerank in every recipe but lexical and dense, not in the recipe reranked alone.")
    model: str = setting("ms-marco-minilm", "The cross-encoder, by its name in `clew models list`; none turns it off.")
    # Both in a plateau on the dev part of LoCoMo (30 to 60 read, 0.2 to 0.3: recall@10 85.0 to 85.4), watching SciFact.
    # What they are worth on other sets, losses too, is in docs/evaluation.md.
    depth: int = setting(30, "How many of the best hits are read.", within=(2, 1000))
    weight: float = setting(0.3, "The share of what it says beside the hits' own scores; 0 turns it off.", within=(0, 0.9))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExpansionSettings(Section):
    """What is returned around short chunks (U10)."""

    enabled: bool = setting(True, "Return the neighbours of short chunks beside them.")
    below_words: int = setting(50, "A chunk with fewer words is short.", within=ANY_COUNT)
    reach: int = setting(1, "How many neighbours on each side are returned.", within=(0, 20))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SpreadSettings(Section):
    """How a signal spreads from the best hits to what they are linked to (V15, V16)."""

    enabled: bool = setting(True, "Bring in what the question names and what the best hits are linked to.")
    starts: int = setting(3, "From how many of the best hits the signal spreads.", within=(1, 100))
    mode: str = setting(
        "expected",
        "Follow every link, draw links by chance (by the seed), or walk with restarts.",
        choices=("expected", "sampled", "pagerank"),
    )
    hops: int = setting(2, "How many links a path has at most.", within=(1, 10))
    nodes: int = setting(6, "The links of how many nodes are followed, over all starts together.", within=(1, 10_000))
    fade: float = setting(1.0, "What a signal keeps at every link, beside the link's weight.", within=UNIT)
    weights: Mapping[str, float] = setting(
        # RELATED at 0.2 against 0: CACM +0.8 points of nDCG@10, CoSQA +0.4, small stores and HotpotQA +0.1, none lower.
        {"NAMES": 1.0, "NAMED_BY": 0.3, "OPENS": 1.0, "SHARES": 1.0, "RELATED": 0.2, "OTHER": 0.5}
        | dict.fromkeys(("PART_OF", "FOLLOWS", "SUPERSEDES", "IMPORTS", "DEFINES", "CALLS"), 0.0),
        "How much each kind of link passes on; OTHER is for kinds not named here, such as those of links that you make.",
        within=UNIT,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ImportSettings(Section):
    """How files become nodes (U4)."""

    category: str = setting("note", "The category of what is imported.")
    max_file_mb: float = setting(10.0, "A larger file is skipped, and reported as skipped; in millions of bytes.", within=(0.001, 2000))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoreSettings(Section):
    """How a hit's score is composed (M1, M2)."""

    recency_rate_per_day: float = setting(0.1, "The rate r in recency = e^(-r * age in days).", within=(0, 100))
    # Counted from its beginning, a fact of June that was told today lost to every other one that was told today.
    recency_from: str = setting(
        "told",
        "From when that age is counted: told, when it became true or was told if that was later; or valid, when it became true. "
        "Files and chats keep the times of their own.",
        choices=("told", "valid"),
    )
    access_divisor: float = setting(5.0, "The divisor d in access = min(1, ln(1 + n) / d).", within=(0.001, 1000))
    meta_weight: float = setting(
        0.0, "The share in relevance of what a hit is filed under: keywords, time, entities (V13); 0 turns it off.", within=UNIT
    )
    presets: Mapping[str, Weights] = setting(
        {
            "balanced": Weights(0.5, 0.2, 0.2, 0.1),
            "semantic": Weights(0.8, 0.1, 0.1, 0.0),
            "recent": Weights(0.3, 0.5, 0.1, 0.1),
            "important": Weights(0.3, 0.1, 0.5, 0.1),
            "popular": Weights(0.3, 0.1, 0.1, 0.5),
        },
        "Named weights of the score; a preset named here is added to the others or replaces its namesake.",
        within=UNIT,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TraceRankSettings(Section):
    """How much a hit's history speaks for it. The defaults were chosen with `python -m benchmarks.history`."""

    enabled: bool = setting(True, "Multiply the relevance of hits by what happened to them.")
    reinforcement: bool = setting(True, "Let count how often and how lately the same was said again.")
    graph: bool = setting(False, "Let count how many memories are related to it.")
    temporal: bool = setting(True, "Let what is dynamic or ephemeral fade with the time since it was last said.")
    # A smaller one buries what is out of date where the question asks for it: at 0.67 one such question in seven.
    least: float = setting(0.9, "The smallest factor.", within=UNIT)
    most: float = setting(1.1, "The largest factor.", within=(1.0, 10.0))
    min_relevance_share: float = setting(0.5, "It acts on hits that are at least so relevant, as a share of the best one.", within=UNIT)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecaySettings(Section):
    """When `clew decay` archives a memory (V11); score = importance * e^(-rate * days without use) * (1 + gain * ln(1 + accesses))."""

    rate_per_day: float = setting(0.1, "The rate at which a memory fades while nobody uses it.", within=(0, 100))
    archive_below: float = setting(0.1, "A memory with a lower score is archived, unless it is protected.", within=UNIT)
    access_gain: float = setting(0.1, "How much being recalled strengthens a memory.", within=(0, 100))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AccessSettings(Section):
    """How returned hits are counted (M5)."""

    track: bool = setting(True, "Count the memories a recall returns.")
    min_interval_seconds: float = setting(3600.0, "A memory is counted at most once in this time.", within=ANY_COUNT)
    flush_seconds: float = setting(2.0, "How long a counted access may wait before it is written.", within=(0, 3600))
    batch: int = setting(256, "How many waiting accesses are written at once.", within=POSITIVE)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ListSettings(Section):
    """What the direct lists show (M4)."""

    important_min: float = setting(0.7, "The least importance in the list of important memories.", within=UNIT)
    popular_min: int = setting(5, "The fewest accesses in the list of popular memories.", within=ANY_COUNT)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChunkSettings(Section):
    """How long texts are cut (U1); sizes are in tokens of the embedding model."""

    min_tokens: int = setting(
        100, "A smaller chunk is joined to a neighbour where that keeps max_tokens; a message stays apart.", within=ANY_COUNT
    )
    target_tokens: int = setting(512, "How large a chunk is to become.", within=POSITIVE)
    max_tokens: int = setting(768, "No chunk is larger.", within=(8, math.inf))
    overlap_tokens: int = setting(50, "How much of a chunk that ended for its size alone the next one repeats.", within=ANY_COUNT)
    semantic_threshold: float = setting(
        0.35, "The distance (1 - cosine) from which neighbours are about different subjects.", within=(0.0, 2.0)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ServeSettings(Section):
    """How `clew serve` is reached, and what a request may cost (S3)."""

    host: str = setting("127.0.0.1", "The address to listen on; any but this machine's own needs a token in the store.")
    port: int = setting(7411, "The port to listen on; 0 takes a free one.", within=(0, 65535))
    require_token: bool = setting(False, "Ask for a token also if the store has never had one; a store that has had one always asks.")
    allowed_hosts: tuple[str, ...] = setting(
        ("localhost", "127.0.0.1", "[::1]"), "The names under which it may be called, beside serve.host; * is any."
    )
    allowed_origins: tuple[str, ...] = setting((), "The origins of web pages that may call it, beside its own; none by default.")
    import_roots: tuple[str, ...] = setting((), "The folders below which a request may name a path to import; none by default.")
    max_request_mb: float = setting(16.0, "The largest body of a request, in millions of bytes.", within=(0.001, 2000))
    max_batch: int = setting(1000, "The most memories in one request.", within=(1, 100_000))
    receive_seconds: float = setting(30.0, "How long a request may take to arrive.", within=(0.1, 3600))
    answer_seconds: float = setting(60.0, "How long an answer may take to be made.", within=(0.1, 3600))
    threads: int = setting(8, "How many requests are worked on at once.", within=(1, 256))
    queue: int = setting(64, "How many more may wait for a thread; further ones are told to come again.", within=(0, 10_000))
    max_connections: int = setting(512, "How many connections may be open at once.", within=(1, 100_000))
    requests_per_second: float = setting(
        100.0, "How many requests a token, or without one an address, may make; 0 is no limit.", within=ANY_COUNT
    )
    burst: int = setting(200, "How many of them may come at once.", within=POSITIVE)
    waiting_jobs: int = setting(16, "How many imports may wait for their turn.", within=(1, 1000))
    kept_jobs: int = setting(100, "How many finished imports of each space are remembered.", within=(1, 10_000))
    import_cpu_seconds: float = setting(
        300.0, "The CPU time that an import may use for one file, or for one batch of vectors.", within=(1, 86_400)
    )
    import_memory_mb: float = setting(
        2000.0, "The memory that the process which imports may use, in millions of bytes.", within=(200, 1_000_000)
    )
    drain_seconds: float = setting(20.0, "How long a server that is told to stop waits for what it has begun.", within=(0, 3600))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TelemetrySettings(Section):
    """Who is told what was done and what it cost (M6); nobody by default."""

    enabled: bool = setting(False, "Make spans and metrics of OpenTelemetry; needs the extra telemetry.")
    exporter: str = setting(
        "none",
        "Where they go. none: to the OpenTelemetry that the program around has set up; console: to stderr; otlp: to the endpoint.",
        choices=("none", "console", "otlp"),
    )
    endpoint: str = setting("http://127.0.0.1:4318", "The collector's address for OTLP over HTTP.")
    export_seconds: float = setting(10.0, "How long spans and metrics may wait before they are sent.", within=(0.1, 3600))
    include_text: bool = setting(
        False, "Tell questions, spaces, notes and messages of errors too, also in logs; they quote what people wrote."
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LogSettings(Section):
    """What is logged on stderr; without a level it is left to the program around."""

    level: str = setting(
        "none", "The least level: info has a line for each recall and write.", choices=("none", "error", "warning", "info", "debug")
    )
    format: str = setting("text", "Lines for people, or of JSON.", choices=("text", "json"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class McpSettings(Section):
    """How Clew answers an agent over MCP (X9)."""

    # Enough for ten ordinary memories twice, as data and as text; many clients warn of answers above 10,000.
    answer_tokens: int = setting(4000, "The most tokens an answer has, as data and as text together.", within=(1000, 1_000_000))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settings(Section):
    """All settings. `load` checks them; made by hand they are taken as they are."""

    store: StoreSettings = field(default_factory=StoreSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    duplicates: DuplicateSettings = field(default_factory=DuplicateSettings)
    substance: SubstanceSettings = field(default_factory=SubstanceSettings)
    firewall: FirewallSettings = field(default_factory=FirewallSettings)
    entities: EntitySettings = field(default_factory=EntitySettings)
    related: RelatedSettings = field(default_factory=RelatedSettings)
    questions: QuestionSettings = field(default_factory=QuestionSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    expansion: ExpansionSettings = field(default_factory=ExpansionSettings)
    spread: SpreadSettings = field(default_factory=SpreadSettings)
    imports: ImportSettings = field(default_factory=ImportSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    tracerank: TraceRankSettings = field(default_factory=TraceRankSettings)
    decay: DecaySettings = field(default_factory=DecaySettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    lists: ListSettings = field(default_factory=ListSettings)
    chunking: ChunkSettings = field(default_factory=ChunkSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    log: LogSettings = field(default_factory=LogSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    mcp: McpSettings = field(default_factory=McpSettings)


def declared() -> Iterator[tuple[str, Field[Any], Any]]:
    """Yield the dotted key, the declaration and the default of every setting, in order."""
    defaults = Settings()
    for section in fields(defaults):
        values = getattr(defaults, section.name)
        for each in fields(values):
            yield f"{section.name}.{each.name}", each, getattr(values, each.name)
