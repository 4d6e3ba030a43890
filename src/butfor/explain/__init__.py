"""From a row to an answer."""
