"""Recall: here is a question and a budget; what should be seen, and why?"""
