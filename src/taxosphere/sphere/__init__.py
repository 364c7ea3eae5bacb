"""The unit sphere: maps between points and tangent vectors, directional distributions, particle fields."""
