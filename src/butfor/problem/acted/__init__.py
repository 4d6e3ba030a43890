"""The problem about one's own actions, where values of other columns follow from them."""
