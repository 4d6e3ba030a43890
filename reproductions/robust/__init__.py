"""Finding regions of counterfactual explanations via robust optimization: table 1 of the paper."""
