"""The command `butfor`: explain a row of a file with a saved model, and check an answer later."""

from butfor.cli.commands import app, main

__all__ = ["app", "main"]
