"""A rejected applicant for a loan, with constraints under which an answer is possible, and some under which none is."""

from __future__ import annotations

import butfor as bf
from butfor.datasets import loans

X, Y = loans.load()
MODEL = loans.pipeline().fit(X, Y)
EXPLAINER = bf.Explainer(MODEL, X)
ROW = X.iloc[[206]]
POSSIBLE = [bf.fixed("sex", "age", "late_payments"), bf.only_up("education")]
STUCK = [*POSSIBLE, bf.fixed("amount", "months", "job"), bf.within("income", 0.05)]
