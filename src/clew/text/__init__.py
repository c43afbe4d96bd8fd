"""Text analysis: words, sentences, names and dates."""
