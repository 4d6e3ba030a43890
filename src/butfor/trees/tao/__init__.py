"""TAO (tree alternating optimisation): oblique trees, learnt by optimising their nodes in turn."""
