"""A model in a few questions: the thresholds that counterfactuals cross, and a small tree of them.

Run: python examples/compress.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import butfor as bf
from butfor.datasets import loans

X, y = loans.load()
train, y_train, test, y_test = X[:700], y[:700], X[700:], y[700:]
model = loans.pipeline().fit(train, y_train)

disc = bf.compress.CounterfactualDiscretizer(model, quantile=0.5).fit(train, y_train)
print(disc.crossings_)
print(disc.thresholds_)
tree = bf.compress.surrogate(disc, train, y_train, depth=2)
print(tree)
print(f"accuracy {tree.score(test, y_test):.3f}, fidelity {tree.fidelity(test):.3f}")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
report = disc.report(train, y_train)
for name, ax in (("heat-map", report.heat_map()), ("tree", tree.plot())):
    ax.figure.savefig(folder / f"compress-{name}.png", dpi=100, metadata={"Software": None})
print(f"written to {folder}")
