"""Small built-in data, made by seeded functions: no download, no licence, the same on every machine."""
