"""Mixed-integer programs, through HiGHS."""
