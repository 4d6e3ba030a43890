"""PMML: what is read predicts what an interpreter of the standard predicts, and answers are those of enumeration.

The interpreter (`pmml_files.py`) was compared with jpmml-evaluator by hand: 60 random trees, 3,600 rows, no difference. So were
the points and the reason codes of the scorecard below.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

import butfor as bf
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.files import from_file
from butfor.testing.importer_contract import check_importer
from tests.importers.pmml_files import (
    LEVELS,
    SCHEMA,
    STRATEGIES,
    TWO_CLASSES,
    WIDTHS,
    Nothing,
    document,
    plain,
    predicted,
    table,
    tree,
)
from tests.shorter import first

CELLS = pd.DataFrame(
    list(itertools.product(*(map(float, range(width)) for width in WIDTHS.values()), LEVELS)), columns=[*WIDTHS, "c"]
)
"""Every row without missing values."""


def read(text: bytes, folder: Path) -> Any:
    path = folder / "model.pmml"
    path.write_bytes(text)
    return from_file(path)


def scores(text: bytes, X: pd.DataFrame, name: str = "TreeModel") -> list[float | None]:
    """What the interpreter predicts with the first tree; None for nothing."""
    model, out = plain(text).find(f".//{name}"), []
    for row in X.to_dict("records"):
        try:
            out.append(float(predicted(model, row).get("score") or "nan"))
        except Nothing:
            out.append(None)
    return out


def cheapest(values: np.ndarray, row: pd.Series, meets: Any) -> float:
    """The least cost of a row of `CELLS` whose value meets the target: shares of ranges, and 1 for another level."""
    cost = sum(abs(CELLS[name] - row[name]) / (width - 1) for name, width in WIDTHS.items()) + (CELLS["c"] != row["c"])
    return float(cost[meets(values)].min()) if meets(values).any() else np.inf


@pytest.mark.parametrize("seed", first(8, range(80)))
def test_trees_predict_what_the_standard_says(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    text = document(tree(rng, STRATEGIES[seed % 4]))
    X, model = table(rng), read(text, tmp_path)
    wanted = scores(text, X)
    known = [k for k, value in enumerate(wanted) if value is not None]
    whole = [k for k in known if not X.iloc[k].isna().any()]
    assert model.predict(X.iloc[whole]).tolist() == [wanted[k] for k in whole]
    for k in set(range(len(X))) - set(known):
        with pytest.raises(InputError, match="lacks a value"):
            model.predict(X.iloc[[k]])
    if not model.booster.refused:
        assert model.predict(X).tolist() == wanted


@pytest.mark.parametrize("seed", first(4, range(40)))
def test_answers_of_a_tree_are_those_of_enumeration(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(1000 + seed)
    text = document(tree(rng, STRATEGIES[seed % 4]))
    values = np.array(scores(text, CELLS), dtype=np.float64)
    least = float(np.quantile(values, 0.8))
    read(text, tmp_path)
    whole = bf.Integer
    explainer = bf.Explainer(
        str(tmp_path / "model.pmml"), CELLS, space={name: whole(0, width - 1) for name, width in WIDTHS.items()}
    )
    rows = CELLS.sample(6, random_state=seed)
    for answer, (_, row) in zip(explainer.explain(rows, bf.value(at_least=least)), rows.iterrows(), strict=True):
        assert answer.certificate.status.name in ("PROVEN_OPTIMAL", "PROVEN_INFEASIBLE")
        assert answer.cost == pytest.approx(cheapest(values, row, lambda x: x >= least), abs=1e-9)


def segments(rng: np.random.Generator, how: str, classes: bool, weights: bool = False, count: int = 4) -> str:
    name = "classification" if classes else "regression"
    said = [f' weight="{k + 1}"' if weights else "" for k in range(count)]
    made = "".join(f"<Segment{weight}><True/>{tree(rng, 'none', classes, 2)}</Segment>" for weight in said)
    inner = f'<Segmentation multipleModelMethod="{how}">{made}</Segmentation>'
    return f'<MiningModel functionName="{name}">{SCHEMA}{inner}</MiningModel>'


@pytest.mark.parametrize("how", ["sum", "average", "weightedAverage", "weightedSum"])
def test_sums_and_means_of_trees(how: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    text = document(segments(rng, how, False, how.startswith("weighted")))
    each = np.array(
        [
            [float(predicted(one, row).get("score") or "nan") for one in plain(text).iter("TreeModel")]
            for row in CELLS.to_dict("records")
        ]
    )
    weights = np.arange(1, 5) if how.startswith("weighted") else np.ones(4)
    wanted = each @ weights / (weights.sum() if "verage" in how else 1)
    assert read(text, tmp_path).predict(CELLS) == pytest.approx(wanted, abs=1e-12)
    least = float(np.quantile(wanted, 0.9))
    explainer = bf.Explainer(str(tmp_path / "model.pmml"), CELLS)
    for answer, (_, row) in zip(
        explainer.explain(CELLS[:4], bf.value(at_least=least)), CELLS[:4].iterrows(), strict=True
    ):
        assert answer.cost == pytest.approx(cheapest(wanted, row, lambda x: x >= least - 1e-9), abs=1e-9)


@pytest.mark.parametrize("how", ["median", "weightedMedian", "x-weightedMedian"])
def test_medians_of_trees(how: str, tmp_path: Path) -> None:
    rng, weighted = np.random.default_rng(6), how != "median"
    text = document(segments(rng, how, False, weighted, count=4 if weighted else 5))
    models = list(plain(text).iter("TreeModel"))
    each = np.array(
        [[float(predicted(one, row).get("score") or "nan") for one in models] for row in CELLS.to_dict("records")]
    )
    weights = np.arange(1, 5) if weighted else np.ones(5)
    wanted = np.array([np.sort(row)[_half(row, weights)] for row in each])
    model = read(text, tmp_path)
    assert model.predict(CELLS).tolist() == wanted.tolist()
    check_importer(model, CELLS)
    explainer = bf.Explainer(str(tmp_path / "model.pmml"), CELLS)
    least, most = (float(np.quantile(wanted, share)) for share in (0.9, 0.1))
    for target, meets in (
        (bf.value(at_least=least), lambda x: x >= least),
        (bf.value(at_most=most), lambda x: x <= most),
    ):
        for answer, (_, row) in zip(explainer.explain(CELLS[:4], target), CELLS[:4].iterrows(), strict=True):
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            assert answer.cost == pytest.approx(cheapest(wanted, row, meets), abs=1e-9)


def _half(row: np.ndarray, weights: np.ndarray) -> int:
    """The place, in the order of the predictions, up to which lies half of the weight."""
    order = sorted(range(len(row)), key=lambda k: row[k])
    return next(k for k in range(len(row)) if 2 * sum(weights[j] for j in order[: k + 1]) >= weights.sum())


@pytest.mark.parametrize("how", ["majorityVote", "weightedMajorityVote", "average"])
def test_votes_and_shares_of_trees(how: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    text = document(segments(rng, how, True, how.startswith("weighted")), TWO_CLASSES)
    shares = []
    for row in CELLS.to_dict("records"):
        own = []
        for one in plain(text).iter("TreeModel"):
            node = predicted(one, row)
            counts = {two.get("value"): float(two.get("recordCount") or 0) for two in node.findall("ScoreDistribution")}
            own.append(counts["yes"] / sum(counts.values()) if how == "average" else float(node.get("score") == "yes"))
        shares.append(own)
    weights = np.arange(1, 5) if how.startswith("weighted") else np.ones(4)
    wanted = np.array(shares) @ weights / weights.sum()
    model = read(text, tmp_path)
    assert model.predict_proba(CELLS)[:, 1] == pytest.approx(wanted, abs=1e-12)
    answers = bf.Explainer(str(tmp_path / "model.pmml"), CELLS).explain(CELLS[:5], "yes")
    for answer, (_, row) in zip(answers, CELLS[:5].iterrows(), strict=True):
        assert answer.cost == pytest.approx(cheapest(wanted, row, lambda x: x > 0.5 + 1e-12), abs=1e-9)


REGRESSION = (
    '<RegressionTable intercept="{0}" targetCategory="{4}"><NumericPredictor name="a" coefficient="{1}"/>'
    '<NumericPredictor name="b" coefficient="{2}"/><CategoricalPredictor name="c" value="green" coefficient="{3}"/>'
    "</RegressionTable>"
)


def regression(how: str, link: str, tables: str) -> str:
    return f'<RegressionModel functionName="{how}" normalizationMethod="{link}">{SCHEMA}{tables}</RegressionModel>'


def line(weights: tuple[float, ...]) -> np.ndarray:
    base, a, b, green = weights
    return np.asarray(base + a * CELLS["a"] + b * CELLS["b"] + green * (CELLS["c"] == "green"))


def test_regressions(tmp_path: Path) -> None:
    one, two, three = (0.3, -0.5, 0.25, 1.5), (-1.0, 0.4, 0.0, -0.5), (0.0, 0.1, -0.3, 0.2)
    text = document(regression("regression", "exp", REGRESSION.format(*one, "")))
    assert read(text, tmp_path).predict(CELLS) == pytest.approx(np.exp(line(one)), rel=1e-12)
    empty = '<RegressionTable intercept="0" targetCategory="no"/>'
    text = document(regression("classification", "logit", REGRESSION.format(*one, "yes") + empty), TWO_CLASSES)
    model = read(text, tmp_path)
    assert model.predict_proba(CELLS)[:, model.classes_ == "yes"][:, 0] == pytest.approx(expit(line(one)), rel=1e-12)
    explainer = bf.Explainer(str(tmp_path / "model.pmml"), CELLS)
    answers = explainer.explain(CELLS[60:64], bf.probability("yes", 0.6))
    assert all(answer.certificate.status.name == "PROVEN_OPTIMAL" for answer in answers)
    classes = TWO_CLASSES.replace("<Value", '<Value value="maybe"/><Value', 1)
    tables = "".join(REGRESSION.format(*own, name) for own, name in ((one, "no"), (two, "yes"), (three, "maybe")))
    text = document(regression("classification", "softmax", tables), classes)
    model = read(text, tmp_path)
    assert model.classes_.tolist() == ["no", "yes", "maybe"]
    assert model.predict_proba(CELLS) == pytest.approx(
        softmax(np.column_stack([line(one), line(two), line(three)]), axis=1)
    )
    with pytest.raises(InputError, match="'a' lacks a value"):
        model.predict(pd.DataFrame({"a": [np.nan], "b": [1.0], "c": ["red"]}))
    without_level = pd.DataFrame({"a": [1.0], "b": [1.0], "c": pd.Series([None], dtype=object)})
    assert len(model.predict(without_level)) == 1  # a missing level adds nothing


DERIVED = (
    '<LocalTransformations><DerivedField name="log a" dataType="double" optype="continuous"><Apply function="ln">'
    '<Apply function="+"><FieldRef field="a"/><Constant>1</Constant></Apply></Apply></DerivedField>'
    '<DerivedField name="kept b" dataType="double" optype="continuous"><Apply function="min"><Constant>2.5</Constant>'
    '<Apply function="max"><FieldRef field="b"/><Constant>0.5</Constant></Apply></Apply></DerivedField></LocalTransformations>'
)


def test_functions_that_bend_before_a_regression(tmp_path: Path) -> None:
    text = (
        REGRESSION.format(0.5, 2.0, -0.75, 1.0, "")
        .replace('name="a"', 'name="log a"')
        .replace('name="b"', 'name="kept b"')
    )
    text = regression("regression", "none", text).replace(SCHEMA, SCHEMA + DERIVED)
    model = read(document(text), tmp_path)
    y = 0.5 + 2 * np.log(CELLS["a"] + 1) - 0.75 * CELLS["b"].clip(0.5, 2.5) + (CELLS["c"] == "green")
    assert model.predict(CELLS) == pytest.approx(y, rel=1e-12)
    explainer = bf.Explainer(str(tmp_path / "model.pmml"), CELLS)
    for start in range(0, len(CELLS), 17):
        for at in (0.5, 2.5):
            answer = explainer.explain(CELLS.iloc[[start]], bf.value(at_least=at)).only
            assert answer.certificate.status.name == "PROVEN_OPTIMAL"
            assert answer.cost == pytest.approx(cheapest(y.to_numpy(), CELLS.iloc[start], lambda x, at=at: x >= at))
    with pytest.raises(InputError, match=r"'a' holds -3.0.*ln in the file are not defined"):
        model.predict(CELLS.assign(a=-3.0))


def test_functions_that_bend_before_a_tree_and_outliers(tmp_path: Path) -> None:
    text = tree(np.random.default_rng(3), "none").replace('field="a" operator="less', 'field="log a" operator="less')
    plain = read(document(text.replace("log a", "a")), tmp_path).predict(CELLS.assign(a=np.log(CELLS["a"] + 1)))
    model = read(document(text.replace(SCHEMA, SCHEMA + DERIVED)), tmp_path)
    assert model.predict(CELLS).tolist() == plain.tolist()
    check_importer(model, CELLS)
    kept = '<MiningField name="a" outliers="asExtremeValues" lowValue="1" highValue="3"/>'
    inside = document(CARD).replace(b'<MiningField name="a"/>', kept.encode())
    clipped = read(document(CARD), tmp_path).predict(CELLS.assign(a=CELLS["a"].clip(1, 3)))
    model = read(inside, tmp_path)
    assert model.predict(CELLS).tolist() == clipped.tolist()
    check_importer(model, CELLS)
    model = read(inside.replace(b"asExtremeValues", b"asMissingValues"), tmp_path)
    left = CELLS.assign(a=CELLS["a"].where(CELLS["a"].between(1, 3)))
    assert model.predict(CELLS).tolist() == read(document(CARD), tmp_path).predict(left).tolist()
    check_importer(model, CELLS)
    model = read(inside.replace(b"asExtremeValues", b'asMissingValues" missingValueReplacement="5'), tmp_path)
    assert model.predict(left).tolist() == read(document(CARD), tmp_path).predict(left.fillna({"a": 5})).tolist()
    check_importer(model, CELLS)
    with pytest.raises(UnsupportedModelError, match="outliers='other'"):
        read(inside.replace(b"asExtremeValues", b"other"), tmp_path)


def chain(single: bool) -> str:
    """Trees whose sum a regression reads, as exporters of boosting write it."""
    rng = np.random.default_rng(11)
    context = ' x-mathContext="float"' if single else ""
    trees = "".join(f'<Segment id="{k}"><True/>{tree(rng, "none", depth=2)}</Segment>' for k in range(3))
    inner = (
        f'<MiningModel functionName="regression"{context}>{SCHEMA}<Output><OutputField name="margin"/></Output>'
        '<LocalTransformations><DerivedField name="float(a)" dataType="float"><FieldRef field="a"/></DerivedField>'
        '</LocalTransformations><Targets><Target rescaleFactor="0.5" rescaleConstant="-0.25"/></Targets>'
        f'<Segmentation multipleModelMethod="sum">{trees}</Segmentation></MiningModel>'
    ).replace('field="a" operator="less', 'field="float(a)" operator="less')
    last = (
        '<RegressionModel functionName="classification" normalizationMethod="logit"><MiningSchema><MiningField name="margin"/>'
        '</MiningSchema><RegressionTable intercept="0.1" targetCategory="yes"><NumericPredictor name="margin" coefficient="2"/>'
        '</RegressionTable><RegressionTable intercept="0" targetCategory="no"/></RegressionModel>'
    )
    return (
        f'<MiningModel functionName="classification"{context}>{SCHEMA}<Segmentation multipleModelMethod="modelChain">'
        f'<Segment id="1"><True/>{inner}</Segment><Segment id="2"><True/>{last}</Segment></Segmentation></MiningModel>'
    )


@pytest.mark.parametrize("single", [False, True])
def test_a_chain_of_trees_and_a_link(single: bool, tmp_path: Path) -> None:
    text = document(chain(single), TWO_CLASSES)
    rows = [{**row, "float(a)": row["a"]} for row in CELLS.to_dict("records")]
    each = np.array(
        [[float(predicted(one, row).get("score") or "nan") for one in plain(text).iter("TreeModel")] for row in rows]
    )
    wanted = expit(0.1 + 2 * (0.5 * each.sum(axis=1) - 0.25))
    model = read(text, tmp_path)
    found = model.predict_proba(CELLS)
    assert found.dtype == (np.float32 if single else np.float64)
    assert found[:, model.classes_ == "yes"][:, 0] == pytest.approx(wanted, rel=1e-6 if single else 1e-12)
    answers = bf.Explainer(str(tmp_path / "model.pmml"), CELLS).explain(CELLS[:5], bf.probability("yes", 0.55))
    for answer, (_, row) in zip(answers, CELLS[:5].iterrows(), strict=True):
        assert answer.cost == pytest.approx(cheapest(wanted, row, lambda x: x >= 0.55), abs=1e-9)


CARD = f"""<Scorecard functionName="regression" initialScore="100" reasonCodeAlgorithm="pointsBelow">{SCHEMA}<Characteristics>
<Characteristic name="A" reasonCode="RA" baselineScore="20">
<Attribute partialScore="-5"><SimplePredicate field="a" operator="isMissing"/></Attribute>
<Attribute partialScore="0"><SimplePredicate field="a" operator="lessThan" value="2"/></Attribute>
<Attribute partialScore="10" reasonCode="RA2"><SimplePredicate field="a" operator="lessThan" value="4"/></Attribute>
<Attribute partialScore="20"><SimplePredicate field="a" operator="greaterOrEqual" value="4"/></Attribute></Characteristic>
<Characteristic name="C" reasonCode="RC" baselineScore="12">
<Attribute partialScore="12"><SimplePredicate field="c" operator="equal" value="green"/></Attribute>
<Attribute partialScore="7"><SimplePredicate field="c" operator="equal" value="red"/></Attribute>
<Attribute partialScore="1"><True/></Attribute></Characteristic></Characteristics></Scorecard>"""


def test_a_scorecard_and_its_reason_codes(tmp_path: Path) -> None:
    model = read(document(CARD), tmp_path)
    points_a = np.select([CELLS["a"] < 2, CELLS["a"] < 4], [0, 10], 20)
    points = 100 + points_a + CELLS["c"].map({"green": 12, "red": 7, "deep blue": 1}).to_numpy()
    assert model.predict(CELLS).tolist() == points.tolist()
    rows = pd.DataFrame({"a": [0.0, 3.0, 5.0, np.nan], "b": 0.0, "c": ["deep blue", "red", "green", None]})
    assert model.predict(rows).tolist() == [101, 117, 132, 96]
    assert model.reason_codes(rows) == [["RA", "RC"], ["RA2", "RC"], ["RA", "RC"], ["RA", "RC"]]
    assert model.reason_codes(rows, 1) == [["RA"], ["RA2"], ["RA"], ["RA"]]
    answer = bf.Explainer(str(tmp_path / "model.pmml"), CELLS).explain(CELLS[:1], bf.value(at_least=125)).only
    assert answer.cost == pytest.approx(cheapest(points, CELLS.iloc[0], lambda x: x >= 125))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"<PMML><!DOCTYPE x></PMML>", "document type"),
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><PMML/>", "document type"),
        (b"<PMML", "no XML"),
        (b"<html/>", "begins with html"),
        (b"<PMML/>", "0 models"),
        (document("<NeuralNetwork functionName='regression'><MiningSchema/></NeuralNetwork>"), "NeuralNetwork"),
        (document(tree(np.random.default_rng(0), "weightedConfidence")), "weightedConfidence"),
        (document(CARD.replace('field="a"', 'field="z"')), "'z'"),
        (document(segments(np.random.default_rng(0), "median", False)), "median of an even number"),
        (document(segments(np.random.default_rng(0), "weightedMedian", False).replace("<True/>", "<False/>")), "predicate"),
        (
            document(segments(np.random.default_rng(0), "weightedMedian", False, True).replace('weight="1"', 'weight="-1"')),
            "at least 0",
        ),
        (document(segments(np.random.default_rng(0), "max", False)), "max"),
        (document(CARD.replace('value="2"', 'value="two"')), "'two'"),
        (document(CARD.replace("<Attribute partialScore=\"1\"><True/></Attribute>", "")), "no prediction for some rows"),
        (document(f"<TreeModel functionName='regression'>{SCHEMA}</TreeModel>"), "no Node"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_told_by_name(text: bytes, told: str, tmp_path: Path) -> None:
    with pytest.raises((InputError, UnsupportedModelError), match=told):
        read(text, tmp_path)


def test_levels_and_replacements(tmp_path: Path) -> None:
    text = document(CARD).replace(
        b'<MiningField name="c"/>', b'<MiningField name="c" invalidValueTreatment="asMissing"/>'
    )
    rows = pd.DataFrame({"a": [0.0], "b": 0.0, "c": ["violet"]})
    assert read(text, tmp_path).predict(rows).tolist() == [101]
    with pytest.raises(InputError, match="'violet', which the file does not know"):
        read(document(CARD), tmp_path).predict(rows)
    filled = document(CARD).replace(b'<MiningField name="a"/>', b'<MiningField name="a" missingValueReplacement="5"/>')
    lost = pd.DataFrame({"a": [np.nan], "b": 0.0, "c": ["green"]})
    assert read(filled, tmp_path).predict(lost).tolist() == [132]
    assert bf.Explainer(str(tmp_path / "model.pmml"), CELLS).explain(CELLS[:1], bf.value(at_least=125)).only.found


# ---- ties, and numbers of float32 ------------------------------------------------------------------------------------------


def undecided(score: str) -> str:
    """A tree with a leaf of which both classes have the same share."""
    return (
        f'<TreeModel functionName="classification">{SCHEMA}<Node><True/>'
        '<Node score="no"><SimplePredicate field="a" operator="lessOrEqual" value="1"/>'
        '<ScoreDistribution value="no" recordCount="6"/><ScoreDistribution value="yes" recordCount="2"/></Node>'
        f'<Node score="{score}"><True/>'
        '<ScoreDistribution value="no" recordCount="3"/><ScoreDistribution value="yes" recordCount="3"/></Node>'
        "</Node></TreeModel>"
    )


def test_a_tie_is_the_score_of_the_node_or_refused(tmp_path: Path) -> None:
    model = read(document(undecided("no"), TWO_CLASSES), tmp_path)
    assert model.predict(CELLS).tolist() == ["no"] * len(CELLS)
    with pytest.raises(UnsupportedModelError, match="several most probable classes"):
        read(document(undecided("yes"), TWO_CLASSES), tmp_path)
    parts = "".join(f"<Segment><True/>{undecided(score)}</Segment>" for score in ("yes", "no"))
    several = (
        f'<MiningModel functionName="classification">{SCHEMA}<Segmentation multipleModelMethod="average">{parts}'
        "</Segmentation></MiningModel>"
    )
    model = read(document(several, TWO_CLASSES), tmp_path)  # no node decides here
    assert model.predict_proba(CELLS[CELLS["a"] > 1]).tolist() == [[0.5, 0.5]] * int((CELLS["a"] > 1).sum())


TENTHS = pd.DataFrame({"a": np.array([0.1, 0.2, 0.3, 0.5], dtype=np.float32), "b": 0.0, "c": "red"})


def of_float(derived: str, test: str) -> bytes:
    """A tree that asks one question about a column of float32, or about what is derived of it."""
    text = (
        f'<TreeModel functionName="regression">{SCHEMA}<LocalTransformations>{derived}</LocalTransformations>'
        f'<Node><True/><Node score="1">{test}</Node><Node score="0"><True/></Node></Node></TreeModel>'
    )
    return document(text).replace(
        b'name="a" optype="continuous" dataType="double"', b'name="a" optype="continuous" dataType="float"'
    )


AS_DOUBLE = '<DerivedField name="z" optype="continuous" dataType="double"><FieldRef field="a"/></DerivedField>'
MAPPED = (
    '<DerivedField name="z" optype="continuous" dataType="double"><MapValues outputColumn="to" defaultValue="0">'
    '<FieldColumnPair field="a" column="from"/><InlineTable><row><from>0.1</from><to>7</to></row></InlineTable>'
    "</MapValues></DerivedField>"
)


@pytest.mark.parametrize(
    ("derived", "test", "wanted"),
    [
        ("", '<SimplePredicate field="a" operator="equal" value="0.1"/>', [1, 0, 0, 0]),
        ("", '<SimpleSetPredicate field="a" booleanOperator="isIn"><Array>0.1 0.3</Array></SimpleSetPredicate>', [1, 0, 1, 0]),
        ("", '<SimpleSetPredicate field="a" booleanOperator="isNotIn"><Array>0.1 0.3</Array></SimpleSetPredicate>', [0, 1, 0, 1]),
        ("", '<SimplePredicate field="a" operator="lessOrEqual" value="0.1"/>', [1, 0, 0, 0]),
        (AS_DOUBLE, '<SimplePredicate field="z" operator="lessOrEqual" value="0.1"/>', [0, 0, 0, 0]),
        (AS_DOUBLE, '<SimplePredicate field="z" operator="lessOrEqual" value="0.3"/>', [1, 1, 0, 0]),
        (MAPPED, '<SimplePredicate field="z" operator="equal" value="7"/>', [1, 0, 0, 0]),
    ],
)  # fmt: skip
def test_numbers_are_compared_in_the_type_of_the_field(
    derived: str, test: str, wanted: list[int], tmp_path: Path
) -> None:
    model = read(of_float(derived, test), tmp_path)
    assert model.predict(TENTHS).tolist() == wanted
    check_importer(model, TENTHS)


def test_a_set_of_numbers_holds_no_text(tmp_path: Path) -> None:
    test = '<SimpleSetPredicate field="a" booleanOperator="isIn"><Array>0.1 high</Array></SimpleSetPredicate>'
    with pytest.raises(UnsupportedModelError, match="'high' where a number"):
        read(of_float("", test), tmp_path)
