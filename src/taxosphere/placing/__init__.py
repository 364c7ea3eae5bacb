"""From ranked candidates to decisions: suggestions for a person, placements for a whole list."""
