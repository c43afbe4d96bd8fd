"""The code graph: definitions, imports and calls in source files."""
