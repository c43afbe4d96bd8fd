"""The Model Context Protocol.

Clew as nine tools, two resources and two prompts for an agent, over stdio or streamable HTTP.
"""
