"""What libraries of boosted trees write into files, read without them."""
