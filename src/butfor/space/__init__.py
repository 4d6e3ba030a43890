"""The raw columns: their values, and how rows are read and written."""
