"""What becomes of a draft that is an echo of memories that are still there."""

from __future__ import annotations

from datetime import datetime

from clew.ingest.draft import Draft
from clew.ingest.duplicates import holds, lasts, same_speaker, same_times
from clew.ingest.firewall.echo.hearing import Echo, echo_of
from clew.ingest.firewall.echo.returned import Shelf
from clew.ports import Store
from clew.settings import FirewallSettings
from clew.types import Kind, Node, NodeId, Outcome, OutcomeKind
from clew.words import sentence_list

RULE = "echo"
MOST_LOOKS = 4  # each leaves out memories that are gone or have ended since; what is still heard then is rare enough to be stored


def heard(draft: Draft, store: Store, returned: Shelf, *, share: float, now: datetime) -> Echo | None:
    """Return of which live memories a draft is the echo: what was forgotten, expired or ended since may be said again."""
    gone: frozenset[NodeId] = frozenset()
    for _ in range(MOST_LOOKS):
        with returned.lock:
            echo = echo_of(draft.text, title=draft.title, space=draft.space, returned=returned, share=share, without=gone)
        if echo is None:
            return None
        nodes = store.get(echo.ids)
        dead = {id for id in echo.ids if id not in nodes or not _holds(nodes[id], draft, now)}
        if not dead:
            return echo
        gone |= dead
    return None


def echoed(echo: Echo, settings: FirewallSettings) -> Outcome:
    """Return the outcome of an echo: of one memory it is that memory's near duplicate, of several it is rejected and names them."""
    one = echo.ids[0] if len(echo.ids) == 1 else None
    named = f": {sentence_list(echo.ids)}" if echo.ids else ""
    return Outcome(
        outcome=OutcomeKind.REJECTED if one is None else OutcomeKind.NEAR_DUPLICATE,
        id=one,
        rule=RULE,
        value=round(echo.share, 4),
        limit=settings.echo_share,
        canonical_id=next(iter(echo.ids), None),
        notes=(f"Clew itself returned this lately{named}. Nothing was stored; to keep it all the same use on_duplicate insert.",),
    )


def _holds(node: Node, draft: Draft, now: datetime) -> bool:
    """Tell whether a memory still says it; when a passage of a file began is when the file was written, which says nothing here."""
    still = holds if node.kind is Kind.MEMORY else lasts
    alive = node.space == draft.space and node.t_expired is None and not node.archived
    return alive and same_speaker(node, draft) and same_times(node, draft) and still(node, draft, at=now)
