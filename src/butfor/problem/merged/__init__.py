"""The problem in which columns that belong together are one."""
