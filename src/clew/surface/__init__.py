"""How the world talks to Clew.

The command line here, other surfaces beside it, one payload for all.
"""
