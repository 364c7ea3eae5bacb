"""Everything about images of concepts: where they are, how they are ranked, and how that joins the text ranking."""
