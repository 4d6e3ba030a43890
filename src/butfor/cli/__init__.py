"""The command `butfor`. It explains rows of a file with a saved model, and checks answers later."""

from butfor.cli.commands import app, main

__all__ = ["app", "main"]
