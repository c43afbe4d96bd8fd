"""Every number and switch of Clew, by name: what it is, where its value came from, and how to change it.

Lowest to highest: the defaults, one file (YAML or TOML), the environment, arguments. An unknown key
or a value out of range is an error that names the source, never a value quietly ignored.
"""

from clew.settings.report import Row, as_dict, config_hash, describe, reference_markdown, template
from clew.settings.sections import (
    AccessSettings,
    DuplicateSettings,
    EntitySettings,
    ListSettings,
    MemorySettings,
    ModelSettings,
    QuestionSettings,
    RecallSettings,
    RelatedSettings,
    ScoreSettings,
    Settings,
    StoreSettings,
    SubstanceSettings,
)
from clew.settings.sources import Loaded, load
from clew.settings.spec import Weights

__all__ = [
    "AccessSettings",
    "DuplicateSettings",
    "EntitySettings",
    "ListSettings",
    "Loaded",
    "MemorySettings",
    "ModelSettings",
    "QuestionSettings",
    "RecallSettings",
    "RelatedSettings",
    "Row",
    "ScoreSettings",
    "Settings",
    "StoreSettings",
    "SubstanceSettings",
    "Weights",
    "as_dict",
    "config_hash",
    "describe",
    "load",
    "reference_markdown",
    "template",
]
