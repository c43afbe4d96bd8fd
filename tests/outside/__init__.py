"""Suites that others wrote for their own stores, run against the adapters.

Python -m tests.outside.
"""
