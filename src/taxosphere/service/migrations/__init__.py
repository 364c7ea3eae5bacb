"""Numbered steps from an empty database to the present tables; a released step never changes."""
