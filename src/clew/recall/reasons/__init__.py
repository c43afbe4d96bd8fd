"""Explain why a memory is in an answer or not, from a recall that is rerun stage by stage."""
