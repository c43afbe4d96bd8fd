"""The conformance suite of the `Store` port, put together from its chapters."""

from __future__ import annotations

from clew.testing.chapters.filtering import Filtering
from clew.testing.chapters.forgetting import Forgetting
from clew.testing.chapters.isolating import Isolating
from clew.testing.chapters.keeping import Keeping
from clew.testing.chapters.logging import Logging
from clew.testing.chapters.modelling import Modelling
from clew.testing.chapters.naming import Naming
from clew.testing.chapters.placing import Placing
from clew.testing.chapters.recording import Recording
from clew.testing.chapters.searching import Searching
from clew.testing.chapters.sharing import Sharing
from clew.testing.chapters.speaking import Speaking
from clew.testing.chapters.token_codes import TokenCodes
from clew.testing.chapters.transacting import Transacting
from clew.testing.chapters.witnessing import Witnessing


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
    """Every promise of `clew.ports.Store`; a subclass brings a fixture named `store`, see `clew.testing`."""
