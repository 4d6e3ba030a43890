"""Ways to look at an answer: rows of facts, laid out as text, JSON, HTML and pictures."""
