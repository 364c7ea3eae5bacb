"""What people read: tables, figures, pages."""
