"""TAO: oblique trees learned by alternating over their nodes."""
