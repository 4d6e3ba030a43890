"""More than two classes: the nearest other class of a wine, a class by name, and one to be sure of.

Run: python examples/classes.py
"""

from __future__ import annotations

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
explainer = bf.Explainer(model, data=X)
wine = X.iloc[[70]]
print(f"This wine is taken for {model.predict(wine)[0]}.\n")

for target in ("other", "Barolo", bf.probability("Barbera", at_least=0.95)):
    answer = explainer.explain(wine, target=target, constraints=[bf.at_most_changes(3)])
    print(answer, "\n")
print(model.predict_proba(answer.point).round(3))
