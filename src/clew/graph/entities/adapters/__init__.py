"""One file for each library that can find names for us, imported only when it is used."""
