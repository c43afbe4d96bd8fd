"""clew.text.dates"""
