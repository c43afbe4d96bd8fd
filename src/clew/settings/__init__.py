"""Every number and switch of Clew, by name.

What it is, where its value came from, and how to change it.

Lowest to highest: the defaults, one file (YAML or TOML), the environment, arguments. An unknown key
or a value out of range is an error that names the source, never a value quietly ignored.
"""

from clew.settings.loading import Loaded, load
from clew.settings.report import Row, as_dict, config_hash, describe, reference_markdown, template
from clew.settings.sections import (
    AccessSettings,
    ConflictSettings,
    DuplicateSettings,
    EntitySettings,
    FirewallSettings,
    ListSettings,
    LlmSettings,
    LogSettings,
    McpSettings,
    MemorySettings,
    ModelSettings,
    QuestionSettings,
    RecallSettings,
    RelatedSettings,
    ScoreSettings,
    ServeSettings,
    Settings,
    StoreSettings,
    SubstanceSettings,
    TelemetrySettings,
)
from clew.settings.spec import Weights

__all__ = [
    "AccessSettings",
    "ConflictSettings",
    "DuplicateSettings",
    "EntitySettings",
    "FirewallSettings",
    "ListSettings",
    "LlmSettings",
    "Loaded",
    "LogSettings",
    "McpSettings",
    "MemorySettings",
    "ModelSettings",
    "QuestionSettings",
    "RecallSettings",
    "RelatedSettings",
    "Row",
    "ScoreSettings",
    "ServeSettings",
    "Settings",
    "StoreSettings",
    "SubstanceSettings",
    "TelemetrySettings",
    "Weights",
    "as_dict",
    "config_hash",
    "describe",
    "load",
    "reference_markdown",
    "template",
]
