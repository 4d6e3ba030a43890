"""The cheapest row of a sum of trees whose round ball ("l2", "l1") meets the target. Experimental: it may be left out again.

It is a search of its own, with its own form of prices and relations. What it does not know, it refuses (`honours`).
No other folder imports any of it but the door, and the decision is docs/decisions/023-round-balls.md.

round_zones: the door: which problems it takes, and the search
outside: the cheapest row outside of all zones, by branch and bound over parcels
zones: the rows whose ball meets one of many boxes of failing rows, and lines that the others lie above
parcels: what a row may become, in parts
parcel_program, parcel_rows: how far a row must move within a parcel, as a linear program
implied: implications in parcels
shared_replies: what rows cost at least, by replies that share out the ball
"""
