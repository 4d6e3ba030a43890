"""The log of answers: one entry for each, in a data base, and each sealed under the one before.

age: "25months" before now
chain: entries, and the digests that link them
address: the file or the data base that is named
tables, database: what SQLAlchemy is told, and what it says, in words. No other place knows it
log: `bf.Log`
verified: the chain, and the answers, computed again
exported: a log as Parquet and JSON lines

Python's own logging, of what butfor says while it works, is `butfor.log`.
"""
