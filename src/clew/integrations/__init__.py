"""Adapters that let other frameworks keep their memories in Clew.

Each module needs its framework, and nothing else does.
"""
