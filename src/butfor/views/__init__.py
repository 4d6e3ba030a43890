"""Ways to look at an answer: as text, JSON, HTML and pictures."""
