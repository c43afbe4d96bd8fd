"""Labelled pairs of memories, and how well conflicts are found among them."""
