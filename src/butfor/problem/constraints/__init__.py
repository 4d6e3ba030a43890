"""What a change must respect."""
