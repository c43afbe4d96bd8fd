"""The page: look inside a memory with a browser.

Static files, served by `clew serve` and `clew ui`; all data comes from /v1.
"""
