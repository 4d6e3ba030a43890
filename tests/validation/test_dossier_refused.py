"""What a dossier refuses, before any row is asked, and what stands in the folder afterwards: all or nothing."""

from __future__ import annotations

import os
from typing import Any

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.records.whole_file import whole_folder
from tests.applicant import EXPLAINER, MODEL, X

REJECTED = X[MODEL.predict(X) == "rejected"]


@pytest.fixture
def unasked(monkeypatch) -> None:
    """Nothing may be asked."""

    def explain(*_: Any, **__: Any) -> None:
        raise AssertionError("a row was asked")

    monkeypatch.setattr(bf.Explainer, "explain", explain)


@pytest.mark.usefixtures("unasked")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"groups": "colour"}, "groups='colour' was given"),
        ({"groups": "income"}, "groups='income' was given, and the column has"),
        ({"groups": 5}, "groups=5 was given"),
        ({"groups": REJECTED["sex"]}, "groups was given as Series, a column itself"),
        ({"groups": REJECTED["sex"].to_numpy()}, "groups was given as ndarray, a column itself"),
        ({"groups": ["sex", 5]}, "The name of a column is needed"),
        ({"sample": 0}, "sample=0 was given"),
        ({"sample": 1.5}, "sample=1.5 was given"),
        ({"sample": True}, "sample=True was given"),
        ({"sample": "many"}, "sample='many' was given"),
        ({"seed": 0.5}, "seed=0.5 was given"),
        ({"time_limit": 0}, "time_limit=0 was given"),
        ({"time_limit_per_row": -1}, "time_limit_per_row=-1 was given"),
        ({"title": 5}, "title=5 was given"),
        ({"files": "model.joblib"}, "files='model.joblib' was given"),
        ({"files": {"model": "no-such-file"}}, "There is no such file"),
        ({"target": "granted"}, "granted"),
        ({"constraints": "fixed shoe_size"}, "shoe_size"),
    ],
)
def test_bad_input_is_refused_before_a_row_is_asked(given: dict[str, Any], words: str, tmp_path) -> None:
    with pytest.raises(bf.errors.ButforError, match=words):
        bf.dossier(EXPLAINER, X, tmp_path / "dossier", **{"target": "approved", "progress": False, **given})
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("unasked")
def test_rows_that_need_nothing_and_things_that_are_no_explainer_are_refused(tmp_path) -> None:
    approved = X[MODEL.predict(X) == "approved"]
    with pytest.raises(bf.errors.InputError, match="every row meets the target already"):
        bf.dossier(EXPLAINER, approved, tmp_path / "dossier", target="approved")
    with pytest.raises(bf.errors.InputTypeError, match="An Explainer is needed"):
        bf.dossier(MODEL, X, tmp_path / "dossier")
    with pytest.raises(bf.errors.InputError, match="no row was given"):
        bf.dossier(EXPLAINER, X.head(0), tmp_path / "dossier", target="approved")
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("unasked")
def test_a_folder_that_holds_something_and_a_file_are_refused(tmp_path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(bf.errors.InputError, match="is there already, and not empty"):
        bf.dossier(EXPLAINER, X, tmp_path / "taken", target="approved")
    with pytest.raises(bf.errors.InputError, match="is a file"):
        bf.dossier(EXPLAINER, X, tmp_path / "file", target="approved")
    with pytest.raises(OSError, match="inside") as found:
        bf.dossier(EXPLAINER, X, tmp_path / "file" / "inside", target="approved")
    assert found.value.filename == str(tmp_path / "file" / "inside")
    with pytest.raises(bf.errors.InputTypeError, match="as a path"):
        bf.dossier(EXPLAINER, X, 5, target="approved")
    assert {one.name for one in tmp_path.iterdir()} == {"taken", "file"}
    assert (tmp_path / "taken" / "mine.txt").read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    bf.dossier(EXPLAINER, REJECTED, tmp_path / "empty", target="approved", sample=1)
    assert len([*(tmp_path / "empty").iterdir()]) == 5


def test_an_error_on_the_way_leaves_nothing(tmp_path, monkeypatch) -> None:
    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("butfor.validation.dossier.batch_of", broken)
    with pytest.raises(OSError, match="No space left"):
        bf.dossier(EXPLAINER, REJECTED, tmp_path / "dossier", target="approved", sample=1)
    assert not [*tmp_path.iterdir()]


def test_the_folder_has_the_rights_of_any_other(tmp_path) -> None:
    with whole_folder(tmp_path / "made") as (beside, goal):
        (beside / "file").write_text("")
        assert not goal.exists()
    (tmp_path / "usual").mkdir()
    assert os.stat(goal).st_mode == os.stat(tmp_path / "usual").st_mode


def interrupted_after(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, Ctrl-C comes after so many questions."""
    asked, explain = [], bf.Explainer.explain

    def counting(*given: Any, **options: Any) -> Any:
        if len(asked) == rows:
            raise KeyboardInterrupt
        asked.append(1)
        return explain(*given, **options)

    monkeypatch.setattr(bf.Explainer, "explain", counting)


def test_ctrl_c_keeps_the_rows_that_are_done_and_says_so(tmp_path, monkeypatch) -> None:
    interrupted_after(3, monkeypatch)
    made = bf.dossier(EXPLAINER, REJECTED, tmp_path / "dossier", target="approved", sample=10, groups="sex")
    sections = made.to_dict()["sections"]
    assert len(made.answers) == 3
    assert sections["question"]["facts"]["asked"]["value"] == 3
    assert sections["limits"]["limits"]["interrupted"]["value"] == 7
    assert "It was interrupted: of 10 rows that were drawn, 3 were asked." in repr(made)
    assert "3 of them were asked, each alone." in sections["question"]["says"][0]
    assert any("it was interrupted" in words for words in sections["groups_1"]["says"])
    assert (tmp_path / "dossier" / "dossier.html").exists()


def test_ctrl_c_before_the_first_answer_leaves_nothing(tmp_path, monkeypatch) -> None:
    interrupted_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        bf.dossier(EXPLAINER, REJECTED, tmp_path / "dossier", target="approved", sample=10)
    assert not [*tmp_path.iterdir()]


def test_a_column_with_one_value_is_no_bias_check_and_no_group(tmp_path) -> None:
    table = pd.DataFrame({"income": range(40), "sex": ["f"] * 40})
    model = DecisionTreeClassifier(max_depth=2).fit(table[["income"]].assign(sex=0), table["income"] > 20)
    explainer = bf.Explainer(model, table.assign(sex=0))
    made = bf.dossier(explainer, table.assign(sex=0), tmp_path / "one", target=True, groups="sex", sample=5)
    says = made.to_dict()["sections"]["groups_1"]["says"]
    assert says[0] == "All rows that were asked are of one group of sex."
    assert "has a single value in the data" in says[1]
