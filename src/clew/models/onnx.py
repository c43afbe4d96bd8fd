"""An embedder that runs a BERT-like ONNX model on the CPU, the same vector for the same text every time.

Dynamic int8 takes its scales from the whole batch: embedded together with other texts, a text gets
another vector (cosine .997). So each text is run alone, on one thread, and several texts side by
side: a session is thread-safe and releases the GIL. That costs about the same CPU as batching and
makes embedding deterministic.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from clew.errors import ModelError
from clew.models.card import TOKENIZER, WEIGHTS, Card, Pooling
from clew.models.vectors import unit
from clew.models.wordpiece import WordPiece
from clew.ports import Background, EmbedRole, SpannedText, TokenEmbeddings
from clew.token_codes import MAX_TOKENS
from clew.types import Vectors

# Something expensive, made on first use and only once.

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls a function when its result is first wanted; several threads wait for one call.

    A call that raises is not remembered: the next one tries again.

    >>> answer = Lazy(lambda: print("made") or 42)
    >>> answer(), answer()
    made
    (42, 42)
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Take the function; it is not called yet."""
        self._make = make
        self._lock = Lock()
        self._made: tuple[T] | None = None  # a tuple, so that None is a result too

    def __call__(self) -> T:
        """Return the result, making it first if need be."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = (self._make(),)
        return self._made[0]


In = TypeVar("In")
Out = TypeVar("Out")

INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
CHECK = "Check it with: clew models verify"
QUIET = 3  # onnxruntime's level "error": its warnings are about the graph, which no user can change


class OnnxEmbedder:
    """Embeds with a model in a folder, which is found and loaded on first use."""

    def __init__(
        self, card: Card, locate: Callable[[], Path], *, workers: int | None = None
    ) -> None:
        """Take what the model is and a function that returns its folder, which may pull it first."""
        self._card = card
        self._workers = workers or available_cores()
        self._model = Lazy(lambda: _Loaded(card, locate()))

    @property
    def id(self) -> str:
        """The name under which vectors are stored: model and hash of the weights."""
        return self._card.id

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._card.dimension

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut to this many tokens."""
        return self._card.max_tokens

    @property
    def background(self) -> Background:
        """What the model gives for a query and a text that have nothing to do with each other."""
        return self._card.background

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        """Return one unit vector per text, in order, each independent of the others."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        model = self._model()
        prefix = self._card.query_prefix if role is EmbedRole.QUERY else self._card.passage_prefix
        tokens = [
            model.tokenizer.encode(prefix + text, max_tokens=self.max_tokens) for text in texts
        ]
        return unit(np.stack(side_by_side(model.run, tokens, self._workers, size=len)))

    def embed_tokens(self, texts: Sequence[SpannedText], *, role: EmbedRole) -> TokenEmbeddings:
        """Return the vectors that `embed` gives and those of the tokens inside the spans, from one run for each text."""
        if not texts:
            return TokenEmbeddings(self.embed((), role=role), ())
        model = self._model()
        prefix = self._card.query_prefix if role is EmbedRole.QUERY else self._card.passage_prefix
        encoded = [_encode_spans(model.tokenizer, prefix, text, self.max_tokens) for text in texts]
        found = side_by_side(
            model.run_tokens, encoded, self._workers, size=lambda each: len(each.ids)
        )
        return TokenEmbeddings(
            unit(np.stack([pooled for pooled, _ in found])), [tokens for _, tokens in found]
        )

    def count(self, text: str) -> int:
        """Return how many tokens a text has in this model's vocabulary."""
        return self._model().tokenizer.count(text)


class _Encoded(NamedTuple):
    """A text as token ids, and which of them are inside its spans."""

    ids: list[int]
    kept: list[int]


def _encode_spans(
    tokenizer: WordPiece, prefix: str, spanned: SpannedText, max_tokens: int
) -> _Encoded:
    """Return the ids that `encode` gives for the whole text."""
    text, spans = spanned
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    # What is outside a span and what is inside one take turns.
    parts = [prefix + text[: bounds[1]], *(text[start:end] for start, end in pairwise(bounds[1:]))]
    ids, ends = tokenizer.encode_parts(parts, max_tokens=max_tokens)
    kept = [
        at for start, end in zip(ends[::2], ends[1::2], strict=False) for at in range(start, end)
    ]
    return _Encoded(ids, kept[:MAX_TOKENS])


class _Loaded:
    """A model in memory."""

    def __init__(self, card: Card, folder: Path) -> None:
        self.tokenizer = WordPiece.from_file(folder / TOKENIZER)
        self._session = Session(folder / WEIGHTS, card.name)
        self._pooling, self._dimension, self._name = card.pooling, card.dimension, card.name

    def run(self, tokens: list[int]) -> Vectors:
        """Return the vector of one text, not yet scaled."""
        return self._pooled(self._states(tokens))

    def run_tokens(self, encoded: _Encoded) -> tuple[Vectors, Vectors]:
        """Return the vector of one text, not yet scaled, and the unit vectors of the tokens that are kept."""
        states = self._states(encoded.ids)
        return self._pooled(states), unit(states[encoded.kept])

    def _pooled(self, states: npt.NDArray[Any]) -> Vectors:
        pooled = states[0] if self._pooling is Pooling.CLS else states.mean(axis=0)
        return np.asarray(pooled, dtype=np.float32)

    def _states(self, tokens: list[int]) -> npt.NDArray[Any]:
        """Return what the model makes of each token."""
        states = self._session.run(tokens, types=[0] * len(tokens))
        if states.ndim != 3 or states.shape[2] != self._dimension:
            raise ModelError(
                f"{self._name} gave an output of shape {states.shape}; its card promises {self._dimension} dimensions."
            )
        return np.asarray(states[0])


class Session:
    """The graph of a BERT-like model, run for one text, or one pair of texts, at a time."""

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self._session = _session(path, name)
        self._inputs = [value.name for value in self._session.get_inputs()]
        if not set(self._inputs) <= INPUTS:
            raise ModelError(
                f"{name} wants the inputs {self._inputs}; only models with {sorted(INPUTS)} can be run."
            )

    def run(self, tokens: Sequence[int], *, types: Sequence[int]) -> npt.NDArray[Any]:
        """Return the model's first output for these tokens.

        `types` tells which text of a pair each is of.
        """
        ids = np.array([tokens], dtype=np.int64)
        # What is alone in its batch has no padding: the mask is all ones.
        known = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([types], dtype=np.int64),
        }
        try:
            return np.asarray(
                self._session.run(None, {name: known[name] for name in self._inputs})[0]
            )
        except (
            Exception
        ) as error:  # onnxruntime's own types: the graph cannot take what its card promises
            raise ModelError(
                f"{self._name} failed on {len(tokens)} tokens ({type(error).__name__}). {CHECK} {self._name}"
            ) from error


def _session(path: Path, name: str) -> Any:
    # read once, at import: official builds report to their maker otherwise
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415 - 0.3 s and 40 MB that a lexical recall does not need

    onnxruntime.set_default_logger_severity(QUIET)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = QUIET
    # it would keep the memory of the longest text for good, and saves no time
    options.enable_cpu_mem_arena = False
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except (
        Exception
    ) as error:  # onnxruntime's own types differ between versions; all of them mean the file
        raise ModelError(
            f"{path.name} of {name} cannot be loaded ({type(error).__name__}). {CHECK} {name}",
            path=str(path),
        ) from error


def side_by_side(
    run: Callable[[In], Out], tasks: Sequence[In], workers: int, *, size: Callable[[In], int]
) -> list[Out]:
    """Run the largest first, so that no worker is left with a large one at the end.

    Answer in their order.
    """
    if len(tasks) == 1 or workers == 1:
        return [run(each) for each in tasks]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - a single query needs none

    order = sorted(range(len(tasks)), key=lambda at: -size(tasks[at]))
    # A pool for each call: threads cost microseconds here, and an idle pool would not survive a
    # fork.
    with ThreadPoolExecutor(min(workers, len(tasks)), thread_name_prefix="clew-model") as pool:
        found = dict(zip(order, pool.map(lambda at: run(tasks[at]), order), strict=True))
    return [found[at] for at in range(len(tasks))]


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# A cross-encoder scores how well a text answers a question by reading both together.
#
# Slower than comparing vectors by the length of the list, so it only ever reads the best of what
# was found. As in `onnx`, each
# pair is run alone, on one thread, and several pairs side by side: a text's score never depends on
# what stands beside it.

# of both together, as in all that was measured: of a longer text the beginning is read
PAIR_TOKENS = 320
QUESTION_TOKENS = 128  # of these at most for the question


class CrossEncoder:
    """Scores texts with a model in a folder, which is found and loaded on first use."""

    def __init__(
        self, card: Card, locate: Callable[[], Path], *, workers: int | None = None
    ) -> None:
        """Take what the model is and a function that returns its folder."""
        self._card = card
        self._workers = workers or available_cores()
        self._model = Lazy(lambda: _LoadedCrossEncoder(card, locate()))

    @property
    def id(self) -> str:
        """The name of the model and its weights."""
        return self._card.id

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return for each text how well it answers, in order.

        The model's logits, the higher the better.
        """
        if not texts:
            return []
        model, most = self._model(), min(self._card.max_tokens, PAIR_TOKENS)
        pairs = [
            model.tokenizer.encode_pair(
                question, text, max_tokens=most, first_tokens=QUESTION_TOKENS
            )
            for text in texts
        ]
        return side_by_side(model.run, pairs, self._workers, size=lambda pair: len(pair[0]))


class _LoadedCrossEncoder:
    """A model in memory."""

    def __init__(self, card: Card, folder: Path) -> None:
        self.tokenizer = WordPiece.from_file(folder / TOKENIZER)
        self._session = Session(folder / WEIGHTS, card.name)
        self._name = card.name

    def run(self, pair: tuple[list[int], int]) -> float:
        """Return the score of one pair: its tokens, and where the second text begins."""
        tokens, first = pair
        logits = self._session.run(tokens, types=[0] * first + [1] * (len(tokens) - first))
        if np.size(logits) != 1:
            raise ModelError(
                f"{self._name} gave an output of shape {np.shape(logits)} for one pair; a cross-encoder gives one number."
            )
        return float(np.reshape(logits, ()))
