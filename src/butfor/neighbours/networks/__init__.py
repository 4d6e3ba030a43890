"""The worst row near a row, for ReLU networks.

search: branch and bound over the signs of units
unit_bounds, envelope, relaxation: bounds of units, planes above them, and the linear program made of both
joint: two networks as one
"""
