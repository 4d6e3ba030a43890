"""The sentences of `to_text`, a file of templates per language."""
