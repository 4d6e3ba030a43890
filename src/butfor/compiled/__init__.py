"""Functions that numba compiles when they are first called, and keeps for later processes.

kernel: the decorators
cache: where compiled code is kept, and what happens if it cannot be
pause: no looking for garbage meanwhile
searches: which kernels belong together, and how long they take, as `butfor.warming` declares
saying: what a user hears of it
helper: another process, which compiles a share
ahead: what such a process does
"""
