"""The picture in the README: one rejected application, and the cheapest change that gets it approved.

Run: python examples/picture.py [FILE]
"""

from __future__ import annotations

import sys

import matplotlib as mpl

mpl.use("Agg")

import butfor as bf
from butfor.datasets import loans

X, y = loans.load()
model = loans.pipeline().fit(X, y)
explainer = bf.Explainer(model, data=X)
answer = explainer.explain(
    X.iloc[[71]], target="approved", constraints=[bf.fixed("sex", "age"), bf.only_down("late_payments")]
)
print(answer)

file = sys.argv[1] if len(sys.argv) > 1 else "answer.png"
answer.plot().figure.savefig(file, dpi=110, metadata={"Software": None})
print(f"written: {file}")
