"""The user's own model. It is called with the user's own kind of table, and it has the last word."""
