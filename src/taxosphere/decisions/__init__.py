"""What people decided about new concepts: events, their fold into a taxonomy, undo, and exports. No web, no torch."""
