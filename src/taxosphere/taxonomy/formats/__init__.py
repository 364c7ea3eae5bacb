"""Readers and writers: `registry` finds the one for a file, every other module is one format."""
