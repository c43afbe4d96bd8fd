"""What a text becomes: validation, screening, duplicates, commit and decay of memories."""
