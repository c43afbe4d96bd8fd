"""Answers as JSON-ready data: the contract of docs/json.md, one for every surface.

Pure functions. Whatever they return goes through `dumps`, which always gives one valid JSON
document.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clew.errors import plain_fact, shown
from clew.parsing import ParseError, check_depth
from clew.times import iso

if TYPE_CHECKING:
    from clew.documents.importing import FileReport, ImportReport
    from clew.engine.conflicts import Conflict, Conflicts
    from clew.engine.relating import Related
    from clew.engine.replaying import Change, Replay
    from clew.errors import ClewError
    from clew.memories.decay import Decayed, Fading
    from clew.memories.sync import Source
    from clew.models.library import Listed
    from clew.ports import Problem
    from clew.search.state import Hit, Recall
    from clew.search.why import Reason, Why
    from clew.search.why_not import WhyNot
    from clew.settings import Row
    from clew.types import (
        Contradiction,
        ConversationOutcome,
        Edge,
        Event,
        FileCheck,
        Node,
        Outcome,
        Receipt,
        Similar,
    )

SCRUBBED_CHARACTERS = 2000  # of a refused value, before it is clipped
RESOLUTIONS: Mapping[str, int] = {"document": 0, "section": 1, "chunk": 2}
_UNPRINTED = re.compile("[\x7f-\x9f]")  # JSON may hold these bare; a terminal would obey them


def outcome(result: Outcome) -> dict[str, Any]:
    """Return what became of one offered text; what does not apply is left out."""
    optional: dict[str, Any] = {"rule": result.rule, "value": result.value, "limit": result.limit}
    optional |= {"canonical_id": result.canonical_id, "canonical_text": result.canonical_text}
    optional |= {
        "similar": [_similar(each) for each in result.similar] or None,
        "may_supersede": result.may_supersede,
    }
    optional |= {"conflicts": [_contradiction(each) for each in result.conflicts] or None}
    given = {name: value for name, value in optional.items() if value is not None}
    return {
        "outcome": str(result.outcome),
        "id": result.id,
        **given,
        **({"notes": list(result.notes)} if result.notes else {}),
    }


def _similar(each: Similar) -> dict[str, Any]:
    return {
        "id": each.id,
        "cosine": each.cosine,
        **({} if each.text is None else {"text": each.text}),
    }


def _contradiction(each: Contradiction) -> dict[str, Any]:
    told = {"explanation": each.explanation, "text": each.text}
    known = {"id": each.id, "conflict": each.conflict, "kind": each.kind, "score": each.score}
    return {**known, **{name: value for name, value in told.items() if value is not None}}


def superseded(result: Outcome, id: str) -> dict[str, Any]:
    """Return what became of a text that was to take a memory's place.

    `supersedes` is that memory, where it did.
    """
    done = result.outcome == "inserted" or result.rule == "same_text"
    return {**outcome(result), **({"supersedes": id} if done else {})}


def outcomes(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what became of many texts, in order, and how many of each there were."""
    return {"outcomes": list(entries), "counts": counts(entries)}


def counts(entries: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many texts had each outcome, by name."""
    return dict(sorted(Counter(str(entry["outcome"]) for entry in entries).items()))


def conversation(done: ConversationOutcome) -> dict[str, Any]:
    """Return what became of every message of a conversation, and under which name and nodes it is kept."""
    kept = {"session": done.session, "sections": list(done.sections)}
    facts = {"facts": [outcome(each) for each in done.facts]} if done.facts else {}
    return {
        **kept,
        **outcomes([outcome(each) for each in done.outcomes]),
        **facts,
        "notes": list(done.notes),
    }


def imported(report: ImportReport) -> dict[str, Any]:
    """Return what became of every file."""
    return {
        "files": [_file(each) for each in report.files],
        "totals": report.totals,
        "notes": list(report.notes),
    }


def _file(report: FileReport) -> dict[str, Any]:
    known = {"path": report.path, "status": str(report.status), "nodes": report.nodes}
    more = {"reason": report.reason, "notes": list(report.notes)}
    return {**known, **{name: value for name, value in more.items() if value}}


def source(each: Source) -> dict[str, Any]:
    """Return an imported file."""
    return {
        "path": each.path,
        "space": each.space,
        "titles": list(each.titles),
        "documents": list(each.roots),
        "imported_at": iso(each.imported_at),
        "exists": each.exists,
    }


def recall(answer: Recall) -> dict[str, Any]:
    """Return an answer with the reasons for every hit."""
    best = answer.best_rejected
    return {
        "query": answer.question.text,
        "hits": [hit(each, rank) for rank, each in enumerate(answer.hits, start=1)],
        "stats": answer.stats,
        "nothing_relevant": answer.nothing_relevant,
        "filtered_count": answer.filtered_count,
        "best_rejected": None if best is None else asdict(best),
        "trace_id": answer.id,
    }


def hit(found: Hit, rank: int) -> dict[str, Any]:
    """Return a hit; contributions are listed in the order in which they add up to the score exactly."""
    node = found.node
    told = memory(node) if node else None
    return {
        "id": found.id,
        "rank": rank,
        "score": found.score,
        "confidence": found.confidence,
        "text": found.text,
        "context": found.context,
        "title": node.title if node else "",
        "space": node.space if node else "",
        "category": node.category if node else "",
        "components": {
            name: {"value": part.value, "weight": part.weight, "contribution": part.contribution}
            for name, part in sorted(found.components.items())
        },
        "channels": {
            name: {
                "rank": place.rank,
                "score": place.score,
                "normalised": place.normalised,
                "weight": place.weight,
                "contribution": place.contribution,
            }
            for name, place in sorted(found.channels.items())
        },
        "method": found.method,
        "path": [
            {
                "from": hop.source,
                "edge": hop.edge,
                "weight": hop.weight,
                "to": hop.target,
                "signal": hop.signal,
                "evidence": hop.evidence,
            }
            for hop in found.path
        ],
        "hops": found.hops,
        "signal": found.signal,
        "explanation": found.explanation,
        **_doubt(found, told),
        "node": told,
    }


def _doubt(found: Hit, told: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how far a hit may be trusted.

    As far as its memory, unless what stands around that is served too and may give orders.
    """
    if found.node is None or told is None:
        return {"trust": None, "flags": []}
    return (
        trust(found.node, found.context)
        if found.context
        else {"trust": told["trust"], "flags": list(told["flags"])}
    )


def trust(node: Node, context: str = "") -> dict[str, Any]:
    """Return how far a memory may be trusted, `normal` or `low`, and by which flags."""
    from clew.memories.firewall.trust import assess_trust  # noqa: PLC0415 - as in `memory`

    found = assess_trust(node, context)
    return {"trust": found.level, "flags": list(found.flags)}


def why(found: Why) -> dict[str, Any]:
    """Return a memory's place in the whole ranking with its reasons.

    What does not apply is null.
    """
    hit_ = None if found.hit is None or found.rank is None else hit(found.hit, found.rank)
    main = {
        "reasons": [_reason(each) for each in found.main],
        "decisive": found.decisive,
        "rank_without": found.rank_without,
    }
    return {
        "id": found.id,
        "query": found.query,
        "k": found.k,
        "rank": found.rank,
        "ranked": found.ranked,
        "answer_rank": found.answer_rank,
        "reasons": [_reason(each) for each in found.reasons],
        "main_reason": main if found.main else None,
        "hit": hit_,
        "why_not": None if found.missing is None else why_not(found.missing),
    }


def _reason(each: Reason) -> dict[str, Any]:
    return {"kind": each.kind, "name": each.name, "contribution": each.contribution}


def why_not(found: WhyNot) -> dict[str, Any]:
    """Return where a memory was lost, as far as it came."""
    return {
        "id": found.id,
        "stage": found.stage,
        "reason": found.reason,
        "value": found.value,
        "threshold": found.threshold,
        "rank": found.rank,
        "by": found.by,
        "channels": {
            name: {**each._asdict(), "shared": list(each.shared)}
            for name, each in found.channels.items()
        },
        "sentence": found.sentence,
    }


def replayed(found: Replay) -> dict[str, Any]:
    """Return whether a trace's ranking came again, and what changed."""
    return {
        "identical": found.identical,
        "trace_id": found.trace_id,
        "query": found.query,
        "now": iso(found.now),
        "ranking": [
            {"id": each.id, "rank": rank, "score": each.score}
            for rank, each in enumerate(found.ranking, start=1)
        ],
        "changes": [_change(each) for each in found.hits],
        "settings": _then_and_now(found.settings),
        "model": {"before": found.model[0], "after": found.model[1]},
        "store": _then_and_now(found.store),
        "sentences": list(found.sentences),
        "notes": list(found.notes),
    }


def _change(each: Change) -> dict[str, Any]:
    return {**asdict(each), "components": _then_and_now(each.components)}


def _then_and_now(pairs: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    return {name: {"before": before, "after": after} for name, (before, after) in pairs.items()}


def memory(node: Node) -> dict[str, Any]:
    """Return a memory with all its fields, and of a document's node how coarse it is.

    0 the whole, 1 a section, 2 a chunk.
    """
    # Loads numpy, which errors and settings do not need
    from clew.engine.transfer import node_as_dict  # noqa: PLC0415

    return {**node_as_dict(node), "resolution": RESOLUTIONS.get(node.kind), **trust(node)}


def memories(nodes: Iterable[Node]) -> dict[str, Any]:
    """Return a list of memories."""
    return {"memories": [memory(node) for node in nodes]}


def history(id: str, events: Iterable[Event], versions: Iterable[Node] = ()) -> dict[str, Any]:
    """Return what happened to a memory, oldest first, and what it was ever held to be, in the order of valid time."""
    from clew.engine.transfer import event_as_dict  # noqa: PLC0415 - as in `memory`

    told = [event_as_dict(event) for event in events]
    return {
        "id": id,
        "events": told,
        "versions": [{**interval(node), "root": node.root, "text": node.text} for node in versions],
    }


def related(found: Related, *, full: bool = False) -> dict[str, Any]:
    """Return what a memory names, its edges, and the nodes behind both.

    `full` adds every field of them.
    """
    return {
        "id": found.id,
        "entities": [
            {
                "name": each.mention.name,
                "type": each.mention.type,
                "confidence": each.mention.confidence,
                "subject": each.mention.subject,
                "evidence": each.evidence,
                "count": each.count,
                **({"mention": each.mention._asdict()} if full else {}),
            }
            for each in found.entities
        ],
        "edges": [
            {
                "from": edge.source,
                "edge": edge.kind,
                "weight": edge.weight,
                "to": edge.target,
                "confidence": edge.confidence,
                "evidence": edge.evidence,
                **({"t_created": iso(edge.t_created)} if full else {}),
            }
            for edge in found.edges
        ],
        "nodes": [
            {
                "id": each.node.id,
                "title": each.node.title,
                "text": each.node.text,
                "strength": each.strength,
                "about": list(each.about),
                "shares": list(each.shares),
                "edges": list(each.edges),
                **({"node": memory(each.node)} if full else {}),
            }
            for each in found.nodes
        ],
    }


def conflicts(found: Conflicts) -> dict[str, Any]:
    """Return conflicts, the surest first, and how they were found."""
    return {
        "conflicts": [conflict(each) for each in found],
        "examined": found.examined,
        "notes": list(found.notes),
    }


def conflict(each: Conflict) -> dict[str, Any]:
    """Return a conflict with both its memories."""
    end = each.overlap.end
    return {
        "id": each.id,
        "kind": each.kind,
        "explanation": each.explanation,
        "score": each.score,
        "first": memory(each.first),
        "second": memory(each.second),
        "overlap": {"from": iso(each.overlap.start), "to": None if end is None else iso(end)},
    }


def dismissed(each: Conflict) -> dict[str, Any]:
    """Return that a conflict is listed no more."""
    return {"id": each.id, "dismissed": True, "first": each.first.id, "second": each.second.id}


def link(edge: Edge) -> dict[str, Any]:
    """Return a connection between two memories."""
    return {**asdict(edge), "t_created": iso(edge.t_created)}


def interval(node: Node) -> dict[str, Any]:
    """Return since and until when a memory is true, and is believed to be."""
    moments = {
        "t_valid": node.t_valid,
        "t_invalid": node.t_invalid,
        "t_created": node.t_created,
        "t_expired": node.t_expired,
    }
    return {
        "id": node.id,
        **{name: None if moment is None else iso(moment) for name, moment in moments.items()},
    }


def decayed(report: Decayed) -> dict[str, Any]:
    """Return which memories faded, the weakest first, and which go next."""
    known = {
        "at": iso(report.at),
        "dry_run": report.dry_run,
        "examined": report.examined,
        "protected": report.protected,
    }
    return {
        **known,
        "archived": [_fading(each) for each in report.archived],
        "upcoming": [_fading(each) for each in report.upcoming],
    }


def _fading(each: Fading) -> dict[str, Any]:
    forgotten_at = None if each.forgotten_at is None else iso(each.forgotten_at)
    return {"id": each.id, "score": each.score, "forgotten_at": forgotten_at, "text": each.text}


def receipt(done: Receipt) -> dict[str, Any]:
    """Return what was forgotten, and what a search of the store's files found of it afterwards."""
    return {
        "forgotten": list(done.ids),
        "removed": dict(done.removed),
        "at": iso(done.at),
        "dry_run": done.dry_run,
        "kept": list(done.kept),
        "tombstones": done.tombstones,
        **searched(done.files),
        "shared": done.shared,
        "remains": list(done.remains),
        "unchecked": list(done.unchecked),
    }


def searched(files: Sequence[FileCheck]) -> dict[str, Any]:
    """Return how often what was looked for occurs in each file, and in all."""
    return {"found": sum(each.found for each in files), "files": [each._asdict() for each in files]}


def model(listed: Listed) -> dict[str, Any]:
    """Return a known model and where it is, if it is on this machine."""
    card = listed.card
    return {
        "name": card.name,
        "id": card.id,
        "purpose": str(card.purpose),
        "dimension": card.dimension,
        "max_tokens": card.max_tokens,
        "licence": card.licence,
        "bytes": card.size,
        "path": None if listed.path is None else str(listed.path),
        "files": [
            {"name": file.name, "sha256": file.sha256, "bytes": file.size} for file in card.files
        ],
        "sources": [source.place for source in card.sources],
    }


def setting(row: Row) -> dict[str, Any]:
    """Return a setting with its value and where that came from."""
    return asdict(row)


def problem(found: Problem) -> dict[str, Any]:
    """Return something that a check found wrong, and what mends it."""
    return asdict(found)


def error(raised: ClewError) -> dict[str, Any]:
    """Return an error under the one key that no answer has."""
    from clew.memories.firewall.screening import scrub  # noqa: PLC0415 - as in `memory`

    facts = {name: _scrubbable(value) for name, value in raised.facts.items()}
    # All together: a secret that one of them gives away may stand in another. And before they are
    # clipped: half of one is not recognised.
    message, *told = scrub({"message": raised.message, **facts}).items()
    return {
        "error": {
            "code": raised.code,
            "message": message[1],
            **{name: plain_fact(value) for name, value in told},
        }
    }


def _scrubbable(value: Any) -> Any:
    """Return a fact that can be searched for secrets, however large it is."""
    if isinstance(value, str):
        return value[:SCRUBBED_CHARACTERS]
    try:
        check_depth(value)
    except ParseError:
        return shown(value)
    return value


def dumps(
    payload: Mapping[str, Any], *, ascii_only: bool = False, indent: int | None = None
) -> str:
    r"""Return one valid JSON document.

    Numbers that JSON does not know become text, control characters are escaped.

    >>> print(dumps({"weight": float("nan"), "text": "\x9b2J é"}))
    {"weight": "nan", "text": "\u009b2J é"}
    """
    import json  # noqa: PLC0415 - a start that fails for people needs none

    text = json.dumps(_finite(payload), ensure_ascii=ascii_only, indent=indent, allow_nan=False)
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
