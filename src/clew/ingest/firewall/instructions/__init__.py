"""Does a text give orders to whoever reads it? Kept all the same, and served with a flag: what is recalled is data, never a command."""

from clew.ingest.firewall.instructions.flags import flags_of

__all__ = ["flags_of"]
