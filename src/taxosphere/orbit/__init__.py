"""The hierarchy as orbits: radius, gate, and exact search behind it."""
