"""Here is a file: which documents does it hold? Detect, decode, read; what is lost on the way is noted."""

from clew.ingest.readers.document import Document, Message, UnreadableError
from clew.ingest.readers.formats import FORMATS, HEAD_BYTES, detect
from clew.ingest.readers.reading import read

__all__ = ["FORMATS", "HEAD_BYTES", "Document", "Message", "UnreadableError", "detect", "read"]
