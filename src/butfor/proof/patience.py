"""How long a proof may take. What shows it in `--help` imports nothing else."""

PROOF_SECONDS = 60.0
"""So many seconds for each answer."""
