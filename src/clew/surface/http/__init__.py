"""HTTP: the same answers as from Python and the command line, for programs on this machine and, with tokens, beyond it.

`app.make_app` makes the application, `serving.serve` runs it. Nothing here is loaded before `clew
serve` asks for it.
"""
