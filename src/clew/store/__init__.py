"""Stores: SQLite by default, and one in memory that is slow and obviously right."""
