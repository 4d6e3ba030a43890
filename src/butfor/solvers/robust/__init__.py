"""Answers that stay valid in a whole ball around them.

exact: the solver of all models that are known: which search is whose
linear: the solver of many rows of a linear model at once
cutting: the one loop: the cheapest row that may be robust, a judge, and what is learned from it
tree_replies, network_shifts, oblique_parts: what each kind of model adds to the loop
trees_in_ball, network_in_ball: judges, and problems without a ball that bound those with one
held_gates: half-spaces of the decisions of an oblique tree
bring_back: answers from real rows, brought back as far as they stay answers
deep_inside, look_around: first answers of networks, and better ones beside a point
round: round balls of sums of trees, experimental
"""
