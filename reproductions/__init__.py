"""The experiments of the papers, one folder each."""
