"""An answer on disk: what is written is read back the same.

A record is a batch of one: a header, which answers of one call share, merged with the facts of one answer.

header, facts: both as plain data, and back
writing, reading: records, lists of records and batches of lines
parted: a record in two texts, of which many records share one
schema: the names, types and hash of each, and that it does not contradict itself
older: layouts of earlier versions in that of today
tables, column_types: the kind of the user's table
places: errors that say where in a file they arose
whole_file: a file is there whole or not at all
"""
