"""Gets the configured model ready before it is needed, with a bar while it is fetched."""

from __future__ import annotations

from clew.errors import ModelError
from clew.models import load
from clew.ports import EmbedRole
from clew.surface.cli.progress import Meter
from clew.surface.cli.session import Session

NO_MODEL = "Recall is by words alone: model.embedder is 'none'."


def make_model_ready(session: Session) -> str | None:
    """Fetch and load the model by embedding a word with it.

    Return why that failed, or None when it is ready.
    """
    options = session.settings().settings.model
    with Meter(unit="bytes", quiet=session.as_json) as meter:
        try:
            embedder = load(
                options.embedder,
                auto_pull=options.auto_pull,
                progress=meter,
                announce=session.announce,
            )
            if embedder is None:
                return NO_MODEL
            embedder.embed(["ready"], role=EmbedRole.QUERY)
        except ModelError as error:
            return f"Recall is by words alone: {error.message}"
    return None
