"""Evaluation: is it any good? Datasets, chunkers, policies, measures, statistics and reports, all offline."""
