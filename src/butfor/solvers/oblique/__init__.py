"""One oblique tree: every target leaf is a polytope."""
