"""The firewall for imported files.

Secrets are covered in place, so that every offset into a document stays true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from clew.documents.readers.document import Document, UnreadableError
from clew.documents.tree import Tree
from clew.memories.firewall.screening import ALLOW, FIX, REFUSE, Screen
from clew.memories.firewall.secret_patterns import Secret
from clew.memories.firewall.secrets import find_secrets, mask, rules_of
from clew.memories.firewall.trust import ARCHIVE, assess_trust
from clew.settings import FirewallSettings
from clew.text.words import sentence_list
from clew.types import Kind, NodeId


def documents_screened(
    documents: Sequence[Document], path: str, settings: FirewallSettings
) -> tuple[list[Document], tuple[str, ...]]:
    """Return the documents of a file with every secret covered, and a note that says which.

    Or refuse the file.
    """
    if settings.secrets == ALLOW:
        return list(documents), ()
    if rules := rules_of(find_secrets(path)):
        raise UnreadableError(
            f"its name holds a secret ({sentence_list(rules)})", f"Rename it. {FIX}"
        )
    screen = Screen(cards=settings.cards)
    _learn(screen, documents)
    if not screen.rules:  # as in nearly all
        return list(documents), ()
    found = [
        find_secrets(document.text, cards=settings.cards, known=screen.known)
        for document in documents
    ]
    if settings.secrets == REFUSE and any(found):
        raise UnreadableError(f"it holds secrets: {_places(documents, found)}", FIX)
    return [
        _covered(document, each, screen) for document, each in zip(documents, found, strict=True)
    ], (_note(found, screen),)


def _learn(screen: Screen, documents: Sequence[Document]) -> None:
    """Let the screen see all of a file first.

    What one line gives away may stand in a title, or in another message, by itself.
    """
    try:
        for document in documents:
            screen.seen(
                {
                    "text": document.text,
                    "title": document.title,
                    "metadata": dict(document.metadata),
                },
                "",
            )
    except RecursionError:
        raise UnreadableError(
            "what it says of itself is nested too deeply to be read", "Use a flat mapping."
        ) from None


def _covered(document: Document, found: tuple[Secret, ...], screen: Screen) -> Document:
    """Return a document as it is kept.

    What was read out of its text before, such as its title, has no offsets to keep.
    """
    beside = screen.seen({"title": document.title, "metadata": dict(document.metadata)}, "")
    return replace(document, text=mask(document.text, found) if found else document.text, **beside)


def _note(found: Sequence[Sequence[Secret]], screen: Screen) -> str:
    counts = Counter(each.rule for secrets in found for each in secrets)
    named = sentence_list(
        [f"{count} × {rule}" for rule, count in sorted(counts.items())] or list(screen.rules)
    )
    return f"Secrets were covered and not kept: {named}. {FIX}"


def _places(documents: Sequence[Document], found: Sequence[Sequence[Secret]]) -> str:
    """Say what the first few are and on which lines; never what they say."""
    lines = [
        f"{each.rule} on line {document.text.count(chr(10), 0, each.start) + 1}"
        for document, secrets in zip(documents, found, strict=True)
        for each in secrets[:3]
    ]
    more = sum(map(len, found)) - len(lines[:3])
    return sentence_list([*lines[:3], *([f"{more} more"] if more else [])])


def trees_marked(
    trees: Sequence[Tree], settings: FirewallSettings
) -> tuple[list[Tree], tuple[str, ...]]:
    """Return the nodes of a file as its passages that give orders may be served, and a note that says how many there are."""
    flagged = {
        node.id: assess_trust(node).flags
        for tree in trees
        for node in tree.nodes
        if node.kind is Kind.CHUNK
    }
    flagged = {id: flags for id, flags in flagged.items() if flags}
    if not flagged:
        return list(trees), ()
    kinds = sentence_list(sorted({flag for flags in flagged.values() for flag in flags}))
    if settings.instructions == REFUSE:
        raise UnreadableError(
            f"it gives its reader orders ({kinds})",
            "To import it all the same, set firewall.instructions to flag.",
        )
    count = f"{len(flagged)} passage{'s read' if len(flagged) > 1 else ' reads'} like an order to the reader ({kinds})"
    if settings.instructions == ARCHIVE:
        return [_archived(tree, flagged.keys()) for tree in trees], (
            f"{count}: in the archive until unarchived.",
        )
    return list(trees), (f"{count}: served with low trust.",)


def _archived(tree: Tree, ids: Collection[NodeId]) -> Tree:
    return replace(
        tree,
        nodes=tuple(
            replace(node, archived=True) if node.id in ids else node for node in tree.nodes
        ),
    )
