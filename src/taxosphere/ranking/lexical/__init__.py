"""Words of names and definitions: parsing, the word index of a taxonomy, names mentioned in a text."""
