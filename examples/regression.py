"""A number instead of a class: what would lower the predicted progression of a disease by a fifth?

Run: python examples/regression.py
"""

from __future__ import annotations

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import butfor as bf

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
models = {
    "a linear model": make_pipeline(StandardScaler(), Ridge()).fit(X, y),
    "a tree": DecisionTreeRegressor(max_depth=5, min_samples_leaf=10, random_state=0).fit(X, y),
}
wanted = bf.relative_change(-0.2)
possible = [bf.fixed("age", "sex"), bf.within("bmi", 0.15), bf.within("bp", 0.15)]

for name, model in models.items():
    print(f"\n{name}, least change:")
    explainer = bf.Explainer(model, data=X)
    print(explainer.explain(X.iloc[[9]], target=wanted, constraints=possible))
    print(f"\n{name}, fewest columns:")
    print(explainer.explain(X.iloc[[9]], target=wanted, constraints=possible, cost=bf.L0() + 0.1 * bf.L1()))
