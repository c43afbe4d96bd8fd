"""Which part of a text is a secret? Documented patterns, each a small rule with its name."""

from clew.ingest.firewall.secrets.finding import masked, redacted, rules_of, secrets_in
from clew.ingest.firewall.secrets.rule import Secret

__all__ = ["Secret", "masked", "redacted", "rules_of", "secrets_in"]
