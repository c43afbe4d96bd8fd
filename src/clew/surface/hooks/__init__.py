"""Hooks of coding agents.

Inject relevant memories into a session, and capture what is worth keeping from it.
"""
