"""The chapters of the store's conformance suite, one promise a test."""
