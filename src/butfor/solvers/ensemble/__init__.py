"""Sums of axis-aligned trees: dual bounds, local search, branching.

On the way from a problem to a row, from first to last:

branch_bound: the solver; one search for each row and score set
leaves, leaf_kernels: all leaves of a model
reduce, reduce_kernels: what is left of them for one row, as a `Reduced` (reduced_ensemble)
reach_kernels, merge_kernels, block_kernels: the steps of that reduction
limits, row_cells: what its cells count, and the rows in given cells that keep relations
instance, effort: the question of one row, and how much is done at once
cell_search: the search, and what it leaves to decide inside of cells
search: bounds, rows and branching
boxes, box_kernels: the search over boxes of cells
bound_kernels, message_kernels: bounds
move_kernels: rows
branching_kernels: where to branch
work_arrays: what these kernels read and write

In the files called kernels, functions with `kernel` are called from Python.
Functions with `part` are compiled into those that call them, which compiles faster than one by one.
Called from Python, they run as plain Python.
"""
