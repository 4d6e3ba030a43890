"""What may move: the raw columns of a row, their values and how a row is read and written back."""
