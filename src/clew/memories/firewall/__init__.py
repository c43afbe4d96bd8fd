"""Screen what is written. Each of three guards has its own setting:

secrets       keys, tokens and passwords are taken out before anything else sees the text
instructions  text that gives orders to whoever reads it is kept, and served with a flag and
              lower trust
echo          what Clew itself returned a moment ago is not stored again as if it were new
"""
