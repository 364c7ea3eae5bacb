"""Learning how to rank: what speaks for a candidate, and how much each sign is worth."""
