"""setfunction."""
