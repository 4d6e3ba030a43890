"""What a model asks of whom: statuses and costs by group, a heat map of the changes, and the levers.

Run: python examples/groups.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import butfor as bf
from butfor.datasets import loans

X, y = loans.load()
model = loans.pipeline().fit(X, y)
explainer = bf.Explainer(model, data=X)
rules = [bf.fixed("sex", "age", "months"), bf.only_up("education", "income"), bf.only_down("late_payments")]
rejected = X[model.predict(X) == "rejected"].iloc[:100]

strict = [*rules, bf.within("income", 0.15), bf.between("amount", low=4000), bf.fixed("late_payments")]
answers = explainer.explain(X.iloc[:400], target="approved", constraints=strict)
levers = bf.groups.levers(explainer, rejected, target="approved", constraints=rules)
print(bf.groups.statuses(answers, by="job"))
print(bf.groups.Actions(explainer, rejected, target="approved", constraints=rules).most(3, cost_at_most=0.3))

pictures = {
    "statuses": bf.plots.statuses(bf.groups.statuses(answers, by="job")),
    "costs": bf.plots.costs(bf.groups.costs(answers, by="job")),
    "shifts": bf.plots.shifts(bf.groups.shifts(explainer.explain(rejected[:60], target="approved", constraints=rules))),
    "levers": bf.plots.levers(levers),
}
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
for name, ax in pictures.items():
    ax.figure.savefig(folder / f"groups-{name}.png", dpi=100, metadata={"Software": None})
print(f"written to {folder}")
