"""Recall: find, rank and explain the memories that answer a question within a budget."""
