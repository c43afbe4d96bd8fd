"""The settings by section, with their defaults, bounds and descriptions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from clew.files import expanded
from clew.settings.spec import Weights, setting

# Default weights of the features in the relevance.
#
# Chosen in November 2026 with `python -m benchmarks.ranking` on the small stores (household, desk),
# CACM, HotpotQA with and
# without titles, LoCoMo turns and CoSQA, and tested on the set left out each time;
# docs/evaluation.md has the table. The
# plateau is wide: halving or doubling words, vector or tokens changes the mean nDCG@10 by less than
# 0.5 points.

FEATURE_WEIGHTS: dict[str, float] = {
    "words": 0.2,  # BM25, relative to a text with all query terms
    "vector": 0.675,  # cosine above the model's background
    "tokens": 0.6125,  # late interaction (MaxSim) above the model's background
    # share of the section in the relevance of a chunk with a context key, such as a chat message
    "section": 0.1,
    "section_long": 0.3,  # the same for a chunk without a context key, which has no other context
    "named": 0.25,  # the question names the memory's title
    "path": 0.85,  # share of the gap to a better hit that a link of full weight closes
    # the memory has a category that the question's words point to, such as decision in "What did we
    # decide?"
    "category": 0.1,
    "period": 0.2,  # dated in the period that the question names
    # said by whom the question speaks of: the user for "I" and "my", the assistant for "you"
    "speaker": 0.05,
    "repeat": 0.01,  # penalty for each further hit of one session, document or title
}


ANY_COUNT = (0, math.inf)
POSITIVE = (1, math.inf)
UNIT = (0.0, 1.0)
COSINE = (-1.0, 1.0)


class Section:
    """Equality and repr by value. Written once.

    Generated methods for each section class cost 3 ms at every start.
    """

    def __eq__(self, other: object) -> bool:
        """Return whether all values are equal."""
        return type(self) is type(other) and vars(self) == vars(other)

    # Contains mappings; use `config_hash` as an identity
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the constructor call with all values."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoreSettings(Section):
    """Where memories are stored, and how durably."""

    path: str = setting(
        "~/.local/share/clew/memory.clew", "Path of the store file. Short form: CLEW_STORE."
    )
    synchronous: str = setting(
        "FULL",
        "Durability of an acknowledged write. FULL: survives a power failure; NORMAL: survives a killed process only.",
        choices=("FULL", "NORMAL"),
    )
    busy_timeout_seconds: float = setting(
        30.0, "How long a write waits for a lock held by another process.", within=(0, 3600)
    )
    space: str = setting("default", "Default space (tenant). Short form: CLEW_SPACE.")

    @property
    def file(self) -> Path:
        """The store file with `~` expanded."""
        return expanded(self.path)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MemorySettings(Section):
    """Categories, triggers and size limits of a memory."""

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
        "Allowed categories; a list here replaces the default.",
    )
    default_category: str = setting(
        "observation", "Category of a memory that is added without one."
    )
    triggers: tuple[str, ...] = setting(
        (
            "problem-solution",
            "learning-failure",
            "feedback",
            "observation",
            "decision",
            "instruction",
            "correction",
        ),
        "Allowed triggers (what caused a memory to be written); a list here replaces the default.",
    )
    default_importance: float = setting(
        0.5, "Importance of a memory that is added without one.", within=UNIT
    )
    min_characters: int = setting(
        12,
        "Minimum length; a shorter text is rejected (too_short). A Korean character, or one of a script without spaces, counts as two.",
        within=POSITIVE,
    )
    max_characters: int = setting(
        4000,
        "Maximum length; a longer text is rejected (too_long). Import it as a document instead.",
        within=POSITIVE,
    )
    max_keywords: int = setting(
        10, "Maximum number of keywords stored with a memory.", within=(0, 1000)
    )
    max_title_characters: int = setting(200, "Maximum length of a title.", within=POSITIVE)
    max_tags: int = setting(32, "Maximum number of tags of a memory.", within=ANY_COUNT)
    max_metadata_bytes: int = setting(
        16384, "Maximum size of a memory's metadata as JSON.", within=(2, math.inf)
    )
    auto_supersede: bool = setting(
        False,
        "Supersede automatically: a new dynamic memory replaces the only valid dynamic memory of the same title and category.",
    )
    batch_size: int = setting(
        256, "Memories written per transaction in a batch.", within=(1, 10_000)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DuplicateSettings(Section):
    """How duplicates of stored memories are detected."""

    exact: bool = setting(
        True, "Reinforce a memory with the same normalised text instead of adding a duplicate."
    )
    near: bool = setting(
        True,
        "Reinforce a near-duplicate instead of adding a memory, if the new text adds no word, speaker, title or time.",
    )
    near_threshold: float = setting(
        0.8,
        "Minimum similarity of near-duplicates: 0 is the model's mean cosine of unrelated texts, 1 is identical.",
        within=UNIT,
    )
    near_neighbours: int = setting(
        50, "Number of nearest current memories to compare with.", within=(1, 1000)
    )
    near_threshold_by_category: Mapping[str, float] = setting(
        {}, "Overrides of near_threshold by category.", within=UNIT
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ConflictSettings(Section):
    """How memories that contradict each other are found."""

    on_remember: bool = setting(
        True,
        "Compare a new memory with its nearest ones, and list in the outcome what it may contradict.",
    )
    neighbours: int = setting(
        8,
        "Nearest memories that each listed memory is compared with, and as many with the same words.",
        within=(1, 100),
    )
    examined: int = setting(
        1000, "Latest memories of a space that a list of conflicts compares.", within=(1, 1_000_000)
    )
    least_score: float = setting(0.5, "Minimum score of a listed conflict.", within=UNIT)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FirewallSettings(Section):
    """How secrets, instructions and echoes in incoming texts are handled."""

    secrets: str = setting(
        "redact",
        "Keys, tokens and passwords in a text. redact: remove them; refuse: reject the text (secret); allow: store it unchanged.",
        choices=("redact", "refuse", "allow"),
    )
    cards: bool = setting(False, "Treat payment card numbers as secrets too.")
    instructions: str = setting(
        "flag",
        "Text that instructs its reader (prompt injection). flag: store it and return it flagged with low trust; archive: store it "
        "archived; refuse: reject it (instruction).",
        choices=("flag", "archive", "refuse"),
    )
    echo: bool = setting(
        True,
        "Do not store as new what Clew returned recently (rule echo); on_duplicate insert overrides it.",
    )
    echo_minutes: float = setting(
        240.0, "How long returned text is recognised as an echo.", within=(0, 100_000)
    )
    echo_share: float = setting(
        1.0,
        "Minimum share of a text's words, without introductory phrases, that were returned before; an added number or name is no echo.",
        within=(0.5, 1.0),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EntitySettings(Section):
    """How names (entities) are extracted from texts."""

    enabled: bool = setting(True, "Extract the names in memories and chunks.")
    extractor: str = setting(
        "rules",
        "Entity extractor: built-in rules, or an installed library.",
        choices=("rules", "spacy", "gliner"),
    )
    model: str = setting(
        "default", "Model of the library, by name or folder; default: its small English model."
    )
    least_confidence: float = setting(0.75, "Minimum confidence of an extracted name.", within=UNIT)
    most: int = setting(10, "Maximum number of names per text.", within=(0, 1000))
    openings: bool = setting(
        True, "Treat the heading or name that a text begins with as its subject."
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RelatedSettings(Section):
    """How similar memories are linked."""

    enabled: bool = setting(
        True,
        "Link a new memory to similar ones, found by the search for near-duplicates (duplicates.near).",
    )
    least: float = setting(
        0.4,
        "Minimum similarity of related memories, on the scale of duplicates.near_threshold.",
        within=UNIT,
    )
    most: int = setting(
        10, "Maximum links of a memory to earlier ones, and again from later ones.", within=(0, 100)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QuestionSettings(Section):
    """Hypothetical questions: questions that a memory answers, which are searched too."""

    # Off: on 62 questions, rule-made questions ranked 54 answers first, against 53 without
    # (tests/recall/test_question_channel.py).
    enabled: bool = setting(False, "Generate questions for new memories with one of the triggers.")
    triggers: tuple[str, ...] = setting(
        ("problem-solution", "learning-failure"), "Triggers of the memories that get questions."
    )
    generator: str = setting(
        "rules", "Question generator: English rules, or a language model.", choices=("rules", "llm")
    )
    most: int = setting(2, "Maximum number of questions per memory.", within=(1, 2))
    match: bool = setting(True, "Search the stored questions in a recall.")
    share: float = setting(
        0.6,
        "Share of the best question in the vector weight of a memory that has questions; its text has the rest.",
        within=UNIT,
    )
    endpoint: str = setting(
        "http://127.0.0.1:11434/v1", "URL of the language model; must support the OpenAI chat API."
    )
    model: str = setting(
        "none", "Name of the language model at the endpoint; required by the generator llm."
    )
    key_env: str = setting(
        "OPENAI_API_KEY", "Environment variable with the API key of the endpoint, if it needs one."
    )
    timeout_seconds: float = setting(
        20.0, "Timeout of a request to the language model.", within=(0.1, 600)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SubstanceSettings(Section):
    """Which texts are rejected as small talk."""

    enabled: bool = setting(True, "Reject texts without content, such as small talk.")
    min_telling_words: int = setting(
        1,
        "Minimum number of distinct content words; stop words, small talk and light verbs do not count.",
        within=(0, 100),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelSettings(Section):
    """The embedding model."""

    embedder: str = setting("arctic-embed-s", "Name of the embedding model in `clew models list`.")
    auto_pull: bool = setting(
        True, "Download the model on first use; CLEW_OFFLINE=1 prevents that."
    )
    token_codes: bool = setting(
        True,
        "Store token vectors for late interaction, one bit per dimension: 48 bytes per token with the default model.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecallSettings(Section):
    """How candidates are found and ranked."""

    k: int = setting(10, "Maximum number of hits.", within=(1, 1000))
    recipe: str = setting(
        "balanced",
        "Recipe: the list of stages that a recall runs.",
        choices=(
            "fast",
            "balanced",
            "thorough",
            "reranked",
            "agent",
            "staged",
            "passages",
            "lexical",
            "dense",
        ),
    )
    preset: str = setting("semantic", "Weights of the score: a name in score.presets.")
    candidates: int = setting(100, "Candidates per channel.", within=(1, 10_000))
    dense_floor: float = setting(
        -0.1,
        "Minimum similarity of a dense candidate: 0 is the model's mean cosine of unrelated texts, 1 the highest.",
        within=COSINE,
    )
    fusion: str = setting(
        "weighted",
        "Fusion of channels: a weighted sum of scores, or reciprocal rank fusion.",
        choices=("weighted", "rrf"),
    )
    rrf_k: int = setting(
        60,
        "Constant k of reciprocal rank fusion: score = sum of weight / (k + rank).",
        within=ANY_COUNT,
    )
    rrf_dense_weight: float = setting(
        0.7, "Weight of the dense channel in reciprocal rank fusion.", within=UNIT
    )
    rrf_sparse_weight: float = setting(
        0.3, "Weight of the sparse channel (BM25) in reciprocal rank fusion.", within=UNIT
    )
    weights: Mapping[str, float] = setting(
        FEATURE_WEIGHTS,
        "Weight of each feature in the relevance. Features listed here override their defaults; 0 turns a feature off.",
        within=UNIT,
    )
    late_interaction: bool = setting(
        True, "Score the best candidates by late interaction (MaxSim)."
    )
    code_features: bool = setting(
        True,
        "Rank source code by file name, definition and kind of file, and diversify hits over files.",
    )
    times: bool = setting(
        True,
        "Parse times in a question: prefer its period, and sort by date if it asks for the latest or earliest.",
    )
    relevance_gate: str = setting(
        "flag",
        "If the best confidence is below the threshold: on returns no hits, flag returns them with nothing_relevant, off does not check.",
        choices=("on", "flag", "off"),
    )
    min_similarity: float = setting(0.0, "Minimum cosine of a hit.", within=COSINE)
    budget_tokens: int = setting(
        0, "Maximum tokens of all returned texts; 0 is no limit.", within=ANY_COUNT
    )
    max_query_characters: int = setting(20_000, "Maximum length of a question.", within=POSITIVE)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GateSettings(Section):
    """Which low-quality chunks are rejected; memories always pass."""

    always: bool = setting(False, "Apply the gate in every recipe, not only in agent.")
    min_quality: float = setting(0.4, "Minimum quality of a chunk.", within=UNIT)
    min_words: int = setting(
        30, "Minimum words of a chunk without added context.", within=ANY_COUNT
    )
    excluded_stubs: tuple[str, ...] = setting(
        ("media", "reference", "breadcrumb"), "Kinds of stubs that are rejected."
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RerankSettings(Section):
    """How a cross-encoder reranks the best hits."""

    always: bool = setting(
        False, "Rerank in every recipe except passages, lexical and dense, not only in reranked."
    )
    model: str = setting(
        "ms-marco-minilm", "Name of the cross-encoder in `clew models list`; none turns it off."
    )
    # Chosen on LoCoMo dev, with SciFact as a check: a plateau (depth 30 to 60, weight 0.2 to 0.3:
    # recall@10 85.0 to 85.4).
    # docs/evaluation.md has gains and losses on other sets.
    depth: int = setting(30, "Number of best hits to rerank.", within=(2, 1000))
    weight: float = setting(
        0.3,
        "Weight of the rerank score against the hits' own scores; 0 turns it off.",
        within=(0, 0.9),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExpansionSettings(Section):
    """Context of short chunks."""

    enabled: bool = setting(True, "Return short chunks with their neighbours as context.")
    below_words: int = setting(50, "A chunk with fewer words counts as short.", within=ANY_COUNT)
    reach: int = setting(1, "Neighbours on each side.", within=(0, 20))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SpreadSettings(Section):
    """Spreading activation: how links from the best hits add and promote others."""

    enabled: bool = setting(
        True, "Add and promote memories that the question names or that the best hits link to."
    )
    starts: int = setting(3, "Number of best hits to start from.", within=(1, 100))
    mode: str = setting(
        "expected",
        "expected: follow every link; sampled: draw links at random, by the seed; pagerank: random walk with restarts.",
        choices=("expected", "sampled", "pagerank"),
    )
    hops: int = setting(2, "Maximum links in a path.", within=(1, 10))
    nodes: int = setting(
        6, "Maximum number of nodes to expand, over all starts together.", within=(1, 10_000)
    )
    fade: float = setting(
        1.0,
        "Factor of the signal at every link, in addition to the weight of the link.",
        within=UNIT,
    )
    weights: Mapping[str, float] = setting(
        # RELATED at 0.2 instead of 0: CACM +0.8 points of nDCG@10, CoSQA +0.4, small stores and
        # HotpotQA +0.1, none lower.
        {"NAMES": 1.0, "NAMED_BY": 0.3, "OPENS": 1.0, "SHARES": 1.0, "RELATED": 0.2, "OTHER": 0.5}
        | dict.fromkeys(("PART_OF", "FOLLOWS", "SUPERSEDES", "IMPORTS", "DEFINES", "CALLS"), 0.0),
        "Share of the signal that each kind of link passes on; OTHER is for all other kinds, such as user-defined links.",
        within=UNIT,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ImportSettings(Section):
    """How files are imported."""

    category: str = setting("note", "Category of imported files.")
    max_file_mb: float = setting(
        10.0,
        "Maximum file size in MB (10^6 bytes); a larger file is reported as skipped.",
        within=(0.001, 2000),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoreSettings(Section):
    """How relevance, recency, importance and access count make up the score."""

    recency_rate_per_day: float = setting(
        0.1, "Rate r in recency = e^(-r * age in days).", within=(0, 100)
    )
    # With `valid`, a fact recorded today that became true in June ranked below every other fact
    # recorded today.
    recency_from: str = setting(
        "told",
        "Start of that age. told: the later of the valid time and the time of recording; valid: the valid time. "
        "Imported files and chats always use their own times.",
        choices=("told", "valid"),
    )
    access_divisor: float = setting(
        5.0, "Divisor d in access = min(1, ln(1 + n) / d).", within=(0.001, 1000)
    )
    meta_weight: float = setting(
        0.0,
        "Share of metadata overlap (keywords, time, entities) in the relevance; 0 turns it off.",
        within=UNIT,
    )
    presets: Mapping[str, Weights] = setting(
        {
            "balanced": Weights(0.5, 0.2, 0.2, 0.1),
            "semantic": Weights(0.8, 0.1, 0.1, 0.0),
            "recent": Weights(0.3, 0.5, 0.1, 0.1),
            "important": Weights(0.3, 0.1, 0.5, 0.1),
            "popular": Weights(0.3, 0.1, 0.1, 0.5),
        },
        "Named weights of the score; a preset here is added, or replaces the one of the same name.",
        within=UNIT,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TraceRankSettings(Section):
    """TraceRank: how the history of a hit changes its relevance.

    The defaults were chosen with `python -m benchmarks.history`.
    """

    enabled: bool = setting(True, "Multiply the relevance of hits by a factor from their history.")
    reinforcement: bool = setting(
        True, "Raise memories that were added again, by how often and how recently."
    )
    graph: bool = setting(False, "Raise memories with many related ones.")
    temporal: bool = setting(
        True, "Lower dynamic and ephemeral memories with the time since they were last added."
    )
    # A smaller bound loses outdated memories that a question asks for: at 0.67, one such question
    # in seven.
    least: float = setting(0.9, "Lower bound of the factor.", within=UNIT)
    most: float = setting(1.1, "Upper bound of the factor.", within=(1.0, 10.0))
    min_relevance_share: float = setting(
        0.5, "Minimum relevance of a hit that it applies to, relative to the best hit.", within=UNIT
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecaySettings(Section):
    """When `clew decay` archives a memory.

    The score is importance * e^(-rate * days without use) * (1 + gain * ln(1 + accesses)).
    """

    rate_per_day: float = setting(0.1, "Decay rate of an unused memory.", within=(0, 100))
    archive_below: float = setting(
        0.1, "Archive memories with a lower score, unless protected.", within=UNIT
    )
    access_gain: float = setting(0.1, "How much accesses raise the score.", within=(0, 100))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AccessSettings(Section):
    """How accesses are counted."""

    track: bool = setting(True, "Count each returned memory as an access.")
    min_interval_seconds: float = setting(
        3600.0, "Minimum time between two counted accesses of a memory.", within=ANY_COUNT
    )
    flush_seconds: float = setting(
        2.0, "Maximum delay before accesses are written.", within=(0, 3600)
    )
    batch: int = setting(256, "Accesses per write.", within=POSITIVE)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ListSettings(Section):
    """Thresholds of the lists of important and popular memories."""

    important_min: float = setting(
        0.7, "Minimum importance in the list of important memories.", within=UNIT
    )
    popular_min: int = setting(
        5, "Minimum accesses in the list of popular memories.", within=ANY_COUNT
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChunkSettings(Section):
    """How long texts are split into chunks; sizes are in tokens of the embedding model."""

    min_tokens: int = setting(
        100,
        "Minimum size; a smaller chunk is merged with a neighbour if max_tokens allows, except chat messages.",
        within=ANY_COUNT,
    )
    target_tokens: int = setting(512, "Target size of a chunk.", within=POSITIVE)
    max_tokens: int = setting(768, "Maximum size of a chunk.", within=(8, math.inf))
    overlap_tokens: int = setting(
        50,
        "Overlap with the previous chunk if that was split for its size alone.",
        within=ANY_COUNT,
    )
    strategy: Mapping[str, str] = setting(
        {"default": "structural"},
        "How a format is split. structural: at headings, messages and definitions; semantic: also where the subject changes; recursive: by "
        "paragraphs and sentences; fixed: by size. default is for formats without an entry.",
        choices=("structural", "semantic", "recursive", "fixed"),
    )
    semantic_threshold: float = setting(
        1.0,
        "How clear a change of subject must be for a semantic split: standard deviations above the document's mean.",
        within=(0.0, 10.0),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ServeSettings(Section):
    """Address and limits of `clew serve`."""

    host: str = setting(
        "127.0.0.1", "Address to listen on; any but loopback requires a token in the store."
    )
    port: int = setting(7411, "Port to listen on; 0 picks a free one.", within=(0, 65535))
    require_token: bool = setting(
        False,
        "Require a token even if the store never had one; a store that had one always requires it.",
    )
    allowed_hosts: tuple[str, ...] = setting(
        ("localhost", "127.0.0.1", "[::1]"),
        "Allowed Host headers in addition to serve.host; * allows any.",
    )
    allowed_origins: tuple[str, ...] = setting(
        (), "Allowed Origin headers of web pages, in addition to its own; none by default."
    )
    import_roots: tuple[str, ...] = setting(
        (), "Folders that a request may import from; none by default."
    )
    report_roots: tuple[str, ...] = setting(
        (), "Folders below which reports of clew eval are shown; none by default."
    )
    max_request_mb: float = setting(
        16.0, "Maximum size of a request body in MB (10^6 bytes).", within=(0.001, 2000)
    )
    max_batch: int = setting(1000, "Maximum memories per request.", within=(1, 100_000))
    receive_seconds: float = setting(30.0, "Timeout for receiving a request.", within=(0.1, 3600))
    answer_seconds: float = setting(60.0, "Timeout for producing a response.", within=(0.1, 3600))
    threads: int = setting(8, "Requests processed concurrently.", within=(1, 256))
    queue: int = setting(
        64,
        "Requests that may wait for a thread; further ones get 503 with Retry-After.",
        within=(0, 10_000),
    )
    max_connections: int = setting(512, "Maximum open connections.", within=(1, 100_000))
    requests_per_second: float = setting(
        100.0, "Rate limit per token or, without one, per address; 0 is no limit.", within=ANY_COUNT
    )
    burst: int = setting(200, "Burst size of the rate limit.", within=POSITIVE)
    waiting_jobs: int = setting(16, "Maximum queued imports.", within=(1, 1000))
    kept_jobs: int = setting(100, "Finished imports that are kept per space.", within=(1, 10_000))
    import_cpu_seconds: float = setting(
        300.0,
        "Maximum CPU time of an import per file, or per batch of vectors.",
        within=(1, 86_400),
    )
    import_memory_mb: float = setting(
        2000.0, "Maximum memory of the import process in MB (10^6 bytes).", within=(200, 1_000_000)
    )
    drain_seconds: float = setting(
        20.0, "How long a stopping server waits for running requests and imports.", within=(0, 3600)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TelemetrySettings(Section):
    """OpenTelemetry spans and metrics; off by default."""

    enabled: bool = setting(
        False, "Create OpenTelemetry spans and metrics; requires the extra telemetry."
    )
    exporter: str = setting(
        "none",
        "Destination. none: the OpenTelemetry setup of the host program; console: stderr; otlp: the endpoint.",
        choices=("none", "console", "otlp"),
    )
    endpoint: str = setting("http://127.0.0.1:4318", "URL of the collector, OTLP over HTTP.")
    export_seconds: float = setting(10.0, "Export interval.", within=(0.1, 3600))
    include_text: bool = setting(
        False,
        "Include questions, spaces, notes and error messages, in logs too; they contain user text.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LogSettings(Section):
    """Logging to stderr; without a level it is left to the host program."""

    level: str = setting(
        "none",
        "Minimum level; info has one line per recall and write.",
        choices=("none", "error", "warning", "info", "debug"),
    )
    format: str = setting("text", "Plain text or JSON lines.", choices=("text", "json"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class McpSettings(Section):
    """Answers over MCP."""

    # Enough for ten typical memories, each as data and as text; many clients warn above 10,000.
    answer_tokens: int = setting(
        4000, "Maximum tokens of an answer, data and text together.", within=(1000, 1_000_000)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LlmSettings(Section):
    """A language model, which is never called unless it is configured here."""

    protocol: str = setting(
        "none",
        "Kind of server; none: no language model.",
        choices=("none", "openai", "anthropic", "ollama"),
    )
    model: str = setting("none", "Name of the model at the server.")
    endpoint: str = setting(
        "default",
        "URL of the server; default: that of the protocol's own service, or Ollama on this machine.",
    )
    key_env: str = setting(
        "LLM_API_KEY", "Environment variable with the API key, if the server needs one."
    )
    timeout_seconds: float = setting(20.0, "Timeout of a request.", within=(0.1, 600))
    budget_tokens: int = setting(
        200_000,
        "Maximum tokens sent and answered until the store is closed; 0 is no limit.",
        within=ANY_COUNT,
    )
    substance: bool = setting(
        False, "Let the model reject new memories that are not worth keeping, after the rules."
    )
    entities: bool = setting(
        False, "Let the model add names to those that the rules find in new memories."
    )
    conflicts: bool = setting(
        False, "Let the model confirm each conflict that the rules find before it is listed."
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HookSettings(Section):
    """Hooks of coding agents (`clew hooks`)."""

    # On 20 needs and 40 unrelated prompts with the default model: 17 memories injected at 0.3, 15
    # at 0.5; unrelated none (highest 0.29).
    min_confidence: float = setting(
        0.3, "Minimum confidence of a memory that is injected with a prompt.", within=UNIT
    )
    most: int = setting(5, "Maximum memories injected at a time.", within=(1, 50))
    budget_tokens: int = setting(800, "Maximum tokens of an injected block.", within=(100, 2500))
    capture: bool = setting(
        True, "Capture decisions, corrections, preferences, fixes and failures from the transcript."
    )
    idle_minutes: float = setting(
        30.0, "Minutes without an event after which the warm process ends.", within=(0.01, 100_000)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settings(Section):
    """All settings. `load` validates them; a directly constructed object is not validated."""

    store: StoreSettings = field(default_factory=StoreSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    duplicates: DuplicateSettings = field(default_factory=DuplicateSettings)
    conflicts: ConflictSettings = field(default_factory=ConflictSettings)
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
    llm: LlmSettings = field(default_factory=LlmSettings)
    hooks: HookSettings = field(default_factory=HookSettings)


def declared() -> Iterator[tuple[str, Field[Any], Any]]:
    """Yield the dotted key, the declaration and the default of every setting, in order."""
    defaults = Settings()
    for section in fields(defaults):
        values = getattr(defaults, section.name)
        for each in fields(values):
            yield f"{section.name}.{each.name}", each, getattr(values, each.name)
