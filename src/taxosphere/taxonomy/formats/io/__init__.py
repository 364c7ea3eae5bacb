"""What several formats share: streams, tables, escapes, RDF terms, and the draft that readers fill."""
