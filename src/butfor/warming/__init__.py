"""Compile everything ahead.

searches: the packages with kernels
examples: a small problem for each of them, which calls all of its kernels
warm: all of them, in as many processes as there are processors
"""
