"""How long a check may take."""

RECHECK_SECONDS = 60.0
"""How long a claimed bound may take to be proven again, by default. The command shows it before anything is loaded."""
