"""An answer checked again by somebody else."""
