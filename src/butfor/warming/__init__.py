"""Compile everything ahead.

examples: a small problem for each search, which calls all of its kernels
worker: one process, which compiles a share
warm: all of them
"""
