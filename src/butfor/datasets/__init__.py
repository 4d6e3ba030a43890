"""Small built-in data sets, made by seeded functions. They need no download and no licence."""
