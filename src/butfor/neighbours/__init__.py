"""The worst row near a row: what a model says at worst in a ball or a box.

ball: boxes and balls, by norm
shifts: a ball as steps from its centre
worst: the worst neighbour for each kind of model
widest_box: the widest box around a row in which an answer stays the same
trees, networks, oblique: the search for each kind of model
"""
