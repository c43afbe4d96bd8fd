"""The Model Context Protocol.

Clew as eight tools and two resources for an agent, over stdio or streamable HTTP.
"""
