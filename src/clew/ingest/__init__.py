"""Here is a text: which nodes does it become? Draft, hygiene, substance, duplicates, commit."""
