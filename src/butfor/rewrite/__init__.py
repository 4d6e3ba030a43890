"""From a problem to a smaller or simpler one of the same answer."""
