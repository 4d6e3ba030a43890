"""The project's own fuzzer: random questions, judged by plain enumeration with the estimator itself.

`python -m tests.fuzz --minutes 5 --seed 1` runs it. What it knows of costs, constraints, targets and columns is
written here anew, in a few lines of NumPy. It takes nothing from butfor but the public names.
"""
