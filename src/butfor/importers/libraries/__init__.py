"""One file per source library; nothing else knows that library."""
