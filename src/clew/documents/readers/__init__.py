"""Readers: from the bytes of a file to its documents."""
