"""The problem: what is wanted, at what price, within what."""
