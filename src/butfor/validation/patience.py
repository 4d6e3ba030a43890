"""How many rows a dossier asks, and how long each may take. The command line needs these without the rest."""

ROWS_DRAWN = 200
"""How many rows are asked if nothing else is said."""

ROW_SECONDS = 10.0
"""How long each row may take if nothing else is said."""
