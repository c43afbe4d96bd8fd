"""How fast is Clew beside its peers, and does it keep what it promised? `python -m benchmarks --help`."""
