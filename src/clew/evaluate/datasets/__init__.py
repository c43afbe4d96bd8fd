"""Which published sets can be measured, and how is each read?"""

from clew.evaluate.datasets.card import Card, Presence, presence
from clew.evaluate.datasets.fetching import fetch_sources
from clew.evaluate.datasets.registry import card, catalogue, load

__all__ = ["Card", "Presence", "card", "catalogue", "fetch_sources", "load", "presence"]
