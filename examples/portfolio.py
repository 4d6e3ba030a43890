"""A whole portfolio: what would get each rejected application approved, and does anybody's sex decide?

Run: python examples/portfolio.py
"""

from __future__ import annotations

from collections import Counter

import butfor as bf
from butfor.datasets import loans

X, y = loans.load()
model = loans.pipeline().fit(X, y)
explainer = bf.Explainer(model, data=X, space={"months": bf.Step(6)})
rejected = X[model.predict(X) == "rejected"]

print(f"{len(rejected)} of {len(X)} applications are rejected.")
personal = [bf.fixed("sex", "age", "late_payments"), bf.only_up("education"), bf.at_most_changes(3)]
answers = explainer.explain(rejected, target="approved", constraints=personal)
for status, count in Counter(answers.statuses).items():
    print(f"{count:4} {status.value}")

changed = Counter(change.name for answer in answers[answers.found] for change in answer.changes)
print("What changes most often:", ", ".join(f"{name} ({count})" for name, count in changed.most_common(4)))

others = bf.fixed(*(name for name in X.columns if name != "sex"))
decided = explainer.explain(rejected, target="approved", constraints=[others])
print(f"With another sex and nothing else changed, {sum(decided.found)} would be approved:", end=" ")
print(decided[0].certificate.why if not any(decided.found) else "look at these cases.")
