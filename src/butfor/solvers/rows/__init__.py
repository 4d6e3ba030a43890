"""Any model, when the answer must be one of given rows."""
