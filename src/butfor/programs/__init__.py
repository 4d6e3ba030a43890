"""Linear and mixed-integer programs: HiGHS, and nobody else knows it.

program: variables, rows and prices, solved in one go
highs: the options of HiGHS, and what is believed of what it says
growing: a linear program to which rows are added, with a bound that is safe
inequalities: bounds from multipliers, which need no trust in a solver
quiet: HiGHS beside the user's own
"""
