"""How the world talks to Clew: the command line here, other surfaces beside it, one payload for all."""
