"""Reports: a page about answers that needs no other file, for the screen and for paper."""
