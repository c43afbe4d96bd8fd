"""The routes under /v1, and those for whoever watches over the server."""
