"""One file for each library or protocol that can embed for us, imported only when its name is used."""
