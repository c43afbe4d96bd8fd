"""Chunkers: from the text of a document to chunks with exact offsets."""
