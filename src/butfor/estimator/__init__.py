"""The user's own model: asked in the user's own tables, the last authority."""
