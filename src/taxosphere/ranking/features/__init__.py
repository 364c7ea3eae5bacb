"""Features of (query, candidate) pairs: the catalogue, their computation, and the shortlist they are computed for."""
