"""An answer on disk: what is written is read back the same.

record: one answer as JSON
batch, lines: many answers as JSON lines
parts, tables, column_types: what both are made of
schema: which shape each part has
loading: whichever of the two a file is
whole_file: a file is there whole or not at all
"""
