"""The solver that uses mixed-integer programs, through HiGHS."""
