"""Which questions does a memory answer? Made when it is written, so that a question finds it that shares no word with it (V10)."""
