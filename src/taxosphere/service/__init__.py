"""What runs beside the command line: the store of decisions, and the service that stands on it."""
