"""The worst row near a row, for trees and sums of trees.

search, kernels: branch and bound over the boxes of the leaves, compiled
regions: the boxes of a model's leaves
counterpart, reply, negative_box: what an answer must do to escape a worst neighbour
"""
