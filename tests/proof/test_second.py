"""The second checker, in C, was written from the page of the format. It says what the first one says, and is faster."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import butfor as bf
from butfor.proof.checker import checker, checker_file
from tests.proof import test_linear
from tests.proof.attacks import attacks
from tests.proof.by_hand import by_hand, unclear
from tests.proof.cases import KINDS, Case, cases, estimator, table

SOURCE = checker_file().with_suffix(".c")

NO_ROOM = ("too large", "out of its range", "this checker", "too far away")
"""What the second checker says of numbers that are larger than it counts."""


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    program = tmp_path_factory.mktemp("second") / "butfor_check"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE, "-lm"], check=True)
    return program


def written(case: Case, folder: Path) -> Path:
    """The files of a case, signed as they are now."""
    folder.mkdir(parents=True)
    (folder / "model").write_text(case.content)
    sha256 = hashlib.sha256(case.content.encode()).hexdigest()
    shared = {**case.shared, "model": {"file": "model", "sha256": sha256, "kind": case.kind, "of": "a test"}}
    text = json.dumps(shared)
    (folder / "question").write_text(text)
    own = {**case.own, "question": ["question", hashlib.sha256(text.encode()).hexdigest()]}
    signed = Case(shared, own, case.steps, case.kind, case.content)
    (folder / "proof").write_text("\n".join(signed.lines()))
    return folder / "proof"


def said(second: Path, files: list[Path]) -> list[str]:
    """What the second checker says of each file."""
    lines = subprocess.run([second, *files], capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == len(files)
    return [line.partition(": ")[2] for line in lines]


def first_accepts(file: Path) -> bool:
    try:
        checker().check(str(file), {})
    except Exception:
        return False
    return True


def test_it_verifies_what_the_first_verifies(second: Path, tmp_path: Path) -> None:
    every = [case for kind in KINDS for case in cases(kind)]
    files = [written(case, tmp_path / str(k)) for k, case in enumerate(every)]
    assert all(map(first_accepts, files))
    assert {*said(second, files)} == {"VERIFIED: the bound, by the second checker"}


@pytest.mark.parametrize(("seed", "count"), [(0, 150), pytest.param(1, 3000, marks=pytest.mark.long)])
def test_both_say_the_same_of_attacks(second: Path, tmp_path: Path, seed: int, count: int) -> None:
    every = tuple(case for kind in KINDS for case in cases(kind))
    tried = [*by_hand(), *unclear(), *attacks(random.Random(seed), every, count)]
    files = [written(case, tmp_path / str(k)) for k, case in enumerate(tried)]
    for file, words in zip(files, said(second, files), strict=True):
        accepted = first_accepts(file)
        assert accepted == words.startswith("VERIFIED") or (accepted and any(one in words for one in NO_ROOM)), (
            file,
            words,
        )


@pytest.mark.shorter(2)
@pytest.mark.parametrize("kind", ["lightgbm", "lightgbm categories", "xgboost categories", "values", "impossible"])
def test_it_reads_other_models(kind: str, second: Path, tmp_path: Path) -> None:
    import lightgbm
    import xgboost
    from sklearn.ensemble import ExtraTreesRegressor

    X, y = table()
    question: dict[str, object] = {}
    if "categories" in kind:
        X = X.assign(job=X["job"].astype("category"))
        learners = {
            "lightgbm": lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=3, n_jobs=1, verbose=-1),
            "xgboost": xgboost.XGBClassifier(n_estimators=10, max_depth=3, enable_categorical=True, n_jobs=1),
        }
        model = learners[kind.split()[0]].fit(X, y)
    elif kind == "values":
        X = X[["income", "age"]]
        model = ExtraTreesRegressor(8, max_depth=4, random_state=0).fit(X, X["income"] + X["age"] / 20)
        question = {"target": bf.value(at_least=float(model.predict(X).max()) - 0.3), "cost": bf.L1() + bf.L2()}
    elif kind == "impossible":
        model = estimator("forest").fit(X, y)
        question = {"constraints": [bf.fixed("income", "age", "job")]}
    else:
        X = X[["income", "age"]]
        model = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=3, n_jobs=1, verbose=-1).fit(X, y)
        question = {"target": bf.probability(1, at_least=0.8)}
    proofs = bf.prove(bf.Explainer(model, data=X).explain(X.iloc[:3], **question), model, tmp_path)  # type: ignore[arg-type]
    files = [one.file for one in proofs if one.file is not None]
    assert files
    assert {*said(second, files)} == {"VERIFIED: the bound, by the second checker"}


def test_it_says_what_it_does_not_read(second: Path, tmp_path: Path) -> None:
    (words,) = said(second, [written(test_linear.between_points(), tmp_path / "linear")])
    assert words == "NOT VERIFIED: a model that this checker does not read: linear"
    (words,) = said(second, [tmp_path / "nowhere"])
    assert words.startswith("NOT VERIFIED: not there: ")


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_trees_with_weights_are_refused(weight: float, second: Path, tmp_path: Path) -> None:
    """XGBoost 3.4 tells of dropout beside the trees, and no longer by the name of the booster."""
    case = cases("xgboost")[0]
    told = json.loads(case.content)
    forest = told["learner"]["gradient_booster"]["model"]
    forest["weight_drop"] = [weight] * len(forest["trees"])
    file = written(replace(case, content=json.dumps(told)), tmp_path / "weights")
    accepted = weight == 1
    assert first_accepts(file) == accepted
    assert said(second, [file])[0].startswith("VERIFIED") == accepted
