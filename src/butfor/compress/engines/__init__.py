"""Learners of small trees over binary columns: one file for each outside library."""
