"""The conformance suite of the `Store` port, put together from its chapters."""

from __future__ import annotations

from clew.testing.chapters.admin import Forgetting, Sharing
from clew.testing.chapters.events import Logging, Transacting
from clew.testing.chapters.filters import Filtering
from clew.testing.chapters.isolation import Isolating
from clew.testing.chapters.models import Modelling, Recording, TokenCodes
from clew.testing.chapters.names import Naming
from clew.testing.chapters.records import Keeping, Witnessing
from clew.testing.chapters.vectors import Searching
from clew.testing.chapters.words import Placing, Speaking


class StoreConformance(
    Keeping,
    Logging,
    Searching,
    Placing,
    Naming,
    Speaking,
    Filtering,
    Modelling,
    TokenCodes,
    Transacting,
    Forgetting,
    Sharing,
    Witnessing,
    Recording,
    Isolating,
):
    """Every promise of `clew.ports.Store`.

    A subclass brings a fixture named `store`, see `clew.testing`.
    """
