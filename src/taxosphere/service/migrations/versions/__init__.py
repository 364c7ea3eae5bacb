"""One file per step, its number first."""
