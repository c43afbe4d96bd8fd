"""Extraction of names from text by rules."""
