"""Relations that are kept by parting what is left: a distance to earlier answers, implications."""
