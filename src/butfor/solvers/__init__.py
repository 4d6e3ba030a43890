"""One method a file; each says which problems it takes and, if not, why."""
