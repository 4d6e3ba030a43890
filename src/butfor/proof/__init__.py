"""Proofs that travel: files with which a stranger checks, without butfor, that nothing is cheaper."""
