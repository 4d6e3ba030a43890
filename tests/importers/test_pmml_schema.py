"""What schemas and Targets of PMML say: values that are invalid, missing or outliers, parts with a schema, and rescaling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.files import from_file
from butfor.testing.importer_contract import check_importer
from tests.importers.pmml_files import SCHEMA, TWO_CLASSES, document, tree
from tests.importers.test_pmml import CARD, CELLS, REGRESSION, chain, cheapest, line, regression, segments

WEIGHTS = (0.5, 2.0, -0.75, 1.0)
LINE = regression("regression", "none", REGRESSION.format(*WEIGHTS, ""))
ENDS = {
    "closedClosed": lambda a: (a >= 1) & (a <= 4),
    "openClosed": lambda a: (a > 1) & (a <= 4),
    "closedOpen": lambda a: (a >= 1) & (a < 4),
    "openOpen": lambda a: (a > 1) & (a < 4),
}
BESIDE = np.array([np.nextafter(x, towards) for x in (1.0, 4.0) for towards in (-np.inf, x, np.inf)])
"""The numbers at the ends, and those next to them."""


def read(text: bytes | str, folder: Path, target: str | None = None) -> Any:
    text = text if isinstance(text, bytes) else document(text) if target is None else document(text, target)
    (folder / "model.pmml").write_bytes(text)
    return from_file(folder / "model.pmml")


def treated(text: str, attributes: str, closure: str = "", kind: str = "double") -> bytes:
    """A file whose outermost schema treats `a` in some way. Its valid numbers may lie from 1 to 4."""
    made = document(text.replace('<MiningField name="a"/>', f'<MiningField name="a" {attributes}/>', 1))
    inside = f'<Interval closure="{closure}" leftMargin="1" rightMargin="4"/>' if closure else ""
    plain = '<DataField name="a" optype="continuous" dataType="double"'
    return made.replace(f"{plain}/>".encode(), f"{plain.replace('double', kind)}>{inside}</DataField>".encode())


def beside(column: str = "a") -> pd.DataFrame:
    return pd.concat([CELLS, CELLS.iloc[: len(BESIDE)].assign(**{column: BESIDE})], ignore_index=True)


# ---- invalid numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instead", [None, 5.0, 2.0], ids=["missing", "replaced by an invalid one", "replaced"])
@pytest.mark.parametrize("closure", ENDS)
def test_invalid_numbers_are_missing_before_trees(closure, instead, tmp_path) -> None:
    X = beside()
    lost = X.assign(a=X["a"].where(ENDS[closure](X["a"])))
    lost = lost if instead is None else lost.fillna({"a": instead})
    wanted = read(CARD, tmp_path).predict(lost)
    replaced = "" if instead is None else f' missingValueReplacement="{instead}"'
    model = read(treated(CARD, f'invalidValueTreatment="asMissing"{replaced}', closure), tmp_path)
    assert model.predict(X).tolist() == wanted.tolist()
    check_importer(model, X)
    values = model.predict(CELLS)
    explainer = bf.Explainer(model, CELLS, space={"a": bf.Integer(0, 5), "b": bf.Integer(0, 3)})
    rows = CELLS.sample(5, random_state=0)
    for answer, (_, row) in zip(explainer.explain(rows, bf.value(at_least=120)), rows.iterrows(), strict=True):
        assert answer.cost == pytest.approx(cheapest(values, row, lambda x: x >= 120))


@pytest.mark.parametrize("closure", ENDS)
def test_invalid_numbers_are_replaced_before_a_regression(closure, tmp_path) -> None:
    X = beside()
    wanted = 0.5 + 2 * X["a"].where(ENDS[closure](X["a"]), 2.5) - 0.75 * X["b"] + (X["c"] == "green")
    how = 'invalidValueTreatment="asMissing" missingValueReplacement="2.5"'
    model = read(treated(LINE, how, closure), tmp_path)
    assert model.predict(X) == pytest.approx(wanted.to_numpy(), rel=1e-12)
    check_importer(model, X)
    values, rows = model.predict(CELLS), CELLS.sample(5, random_state=0)
    explainer = bf.Explainer(model, CELLS, space={"a": bf.Integer(0, 5), "b": bf.Integer(0, 3)})
    for least in (4.0, 6.0):
        for answer, (_, row) in zip(explainer.explain(rows, bf.value(at_least=least)), rows.iterrows(), strict=True):
            assert answer.cost == pytest.approx(cheapest(values, row, lambda x, least=least: x >= least))


def test_invalid_numbers_of_float32_and_outliers_beside_them(tmp_path) -> None:
    X = beside()
    single = X["a"].astype(np.float32).astype(float)
    wanted = 0.5 + 2 * single.where(ENDS["openClosed"](single), 2.5) - 0.75 * X["b"] + (X["c"] == "green")
    how = 'invalidValueTreatment="asMissing" missingValueReplacement="2.5"'
    model = read(treated(LINE, how, "openClosed", "float"), tmp_path)
    assert model.predict(X) == pytest.approx(wanted.to_numpy(), rel=1e-6)
    check_importer(model, X)
    outliers = f'{how} outliers="asExtremeValues" lowValue="2" highValue="3"'
    model = read(treated(CARD, outliers, "closedClosed"), tmp_path)
    kept = X["a"].where(ENDS["closedClosed"](X["a"]), 2.5).clip(2, 3)
    assert model.predict(X).tolist() == read(CARD, tmp_path).predict(X.assign(a=kept)).tolist()
    check_importer(model, X)


def test_a_regression_without_what_is_invalid_is_refused(tmp_path) -> None:
    with pytest.raises(UnsupportedModelError, match="made of 'a' that is missing for some numbers"):
        read(treated(LINE, 'invalidValueTreatment="asMissing"', "closedClosed"), tmp_path)


@pytest.mark.parametrize("closure", ENDS)
def test_ends_may_be_open(closure, tmp_path) -> None:
    model = read(treated(CARD, "", closure), tmp_path)
    for a in (1.0, 4.0, *BESIDE.tolist()):
        row = CELLS[:1].assign(a=a)
        if ENDS[closure](a):
            assert model.predict(row).tolist() == read(CARD, tmp_path).predict(row).tolist()
        else:
            with pytest.raises(InputError, match=r"'a' holds .* lie from"):
                model.predict(row)


# ---- missing values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [CARD, LINE, segments(np.random.default_rng(0), "sum", False)], ids=["card", "line", "sum"]
)
def test_rows_without_a_required_value_have_no_prediction(text, tmp_path) -> None:
    how = 'missingValueTreatment="returnInvalid"'
    required = text.replace('<MiningField name="a"/>', f'<MiningField name="a" {how}/>', 1)
    required = required.replace('<MiningField name="c"/>', f'<MiningField name="c" {how}/>', 1)
    model, free = read(required, tmp_path), read(text, tmp_path)
    assert model.predict(CELLS).tolist() == free.predict(CELLS).tolist()
    for name, none in (("a", np.nan), ("c", None)):
        row = CELLS[:1].assign(**{name: pd.Series([none], dtype=float if name == "a" else object)})
        with pytest.raises(InputError, match=f"'{name}' lacks a value"):
            model.predict(row)
    reading = check_importer(model, CELLS)
    assert [feature.missing for feature in reading.space] == [
        False,
        check_importer(free, CELLS).space["b"].missing,
        False,
    ]


def test_an_invalid_value_that_is_missing_is_no_required_one(tmp_path) -> None:
    how = 'missingValueTreatment="returnInvalid" invalidValueTreatment="asMissing"'
    model = read(treated(CARD, how, "closedClosed"), tmp_path)
    with pytest.raises(InputError, match=r"'a' holds 5.0.*lie from 1.0 to 4.0"):
        model.predict(CELLS[:1].assign(a=5.0))


# ---- schemas that are refused ---------------------------------------------------------------------------------------------

OUTER, INNER = "OUTER", "INNER"


def in_parts(outer: str, inner: str) -> str:
    """A sum of trees whose outermost schema says something of `a`, and that of each tree something else."""
    first, *others = segments(np.random.default_rng(0), "sum", False).split('<MiningField name="a"/>')
    return f'{first}<MiningField name="a" {outer}/>' + f'<MiningField name="a" {inner}/>'.join(others)


SAME = {
    "nothing": ('missingValueReplacement="3"', ""),
    "replacement": ('missingValueReplacement="3"', 'missingValueReplacement="3" missingValueTreatment="asMean"'),
    "outliers": (
        'outliers="asExtremeValues" lowValue="1" highValue="3"',
        'outliers="asExtremeValues" lowValue="1" highValue="3"',
    ),
    "no outliers": ('outliers="asExtremeValues" lowValue="1" highValue="3"', 'outliers="asIs"'),
    "required": ('missingValueTreatment="returnInvalid"', 'missingValueTreatment="returnInvalid"'),
    "invalid": ("", 'invalidValueTreatment="asIs" optype="continuous"'),
    "as it is": ('invalidValueTreatment="asIs"', 'invalidValueTreatment="asIs"'),
}
OTHER = {
    "missingValueReplacement='3'": ("", 'missingValueReplacement="3"'),
    "missingValueReplacement='4'": ('missingValueReplacement="3"', 'missingValueReplacement="4"'),
    "missingValueTreatment='returnInvalid'": ("", 'missingValueTreatment="returnInvalid"'),
    "outliers='asMissingValues'": ("", 'outliers="asMissingValues" lowValue="1"'),
    "highValue='2'": (
        'outliers="asExtremeValues" lowValue="1" highValue="3"',
        'outliers="asExtremeValues" lowValue="1" highValue="2"',
    ),
    "invalidValueTreatment='asMissing'": ('invalidValueTreatment="asIs"', 'invalidValueTreatment="asMissing"'),
    "optype='categorical'": ("", 'optype="categorical"'),
}


@pytest.mark.parametrize("name", SAME)
def test_parts_that_treat_columns_alike_are_read(name, tmp_path) -> None:
    outer, inner = SAME[name]
    wanted = read(in_parts(outer, ""), tmp_path).predict(CELLS)
    assert read(in_parts(outer, inner), tmp_path).predict(CELLS).tolist() == wanted.tolist()


@pytest.mark.parametrize("told", OTHER)
def test_parts_that_treat_columns_otherwise_are_refused(told, tmp_path) -> None:
    with pytest.raises(UnsupportedModelError, match=f"{told} of 'a', otherwise"):
        read(in_parts(*OTHER[told]), tmp_path)


def test_a_part_that_treats_the_prediction_of_another_is_refused(tmp_path) -> None:
    text = chain(False).replace(
        '<MiningField name="margin"/>', '<MiningField name="margin" missingValueReplacement="0"/>'
    )
    with pytest.raises(UnsupportedModelError, match="missingValueReplacement='0' of 'margin'"):
        read(text, tmp_path, TWO_CLASSES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (treated(CARD, 'missingValueTreatment="returnInvalid" missingValueReplacement="3"'), "beside what is done"),
        (treated(CARD, 'missingValueTreatment="returnInvalid" outliers="asMissingValues" lowValue="1"'), "beside what is"),
        (treated(CARD, 'invalidValueTreatment="asIs" invalidValueReplacement="3"'), "invalidValueReplacement='3'"),
        (treated(CARD, 'invalidValueTreatment="asValue"'), "invalidValueTreatment='asValue'"),
        (treated(CARD, 'optype="categorical"'), "optype='categorical'"),
        (treated(CARD, "", "closedClosed").replace(b"<Interval", b'<Interval closure="openOpen"/><Interval'), "several"),
        (treated(CARD, "", "closedClosed").replace(b"<Interval", b'<Value value="3"/><Interval'), "list of valid or inv"),
        (treated(CARD, "", "open"), "closure='open'"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_told_by_name(text, told, tmp_path) -> None:
    with pytest.raises((InputError, UnsupportedModelError), match=told):
        read(text, tmp_path)


# ---- Targets --------------------------------------------------------------------------------------------------------------

RESCALED = '<Targets><Target field="y" rescaleFactor="-0.5" rescaleConstant="3"/></Targets>'
MODELS = {
    "tree": tree(np.random.default_rng(3), "none"),
    "card": CARD,
    "sum": segments(np.random.default_rng(0), "sum", False),
    "line": LINE,
}


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_rescaled(name, tmp_path) -> None:
    text = MODELS[name]
    wanted = 3 - 0.5 * read(text, tmp_path).predict(CELLS)
    model = read(text.replace(SCHEMA, SCHEMA + RESCALED, 1), tmp_path)
    assert model.predict(CELLS) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    check_importer(model, CELLS)
    most = float(np.quantile(wanted, 0.15)) + 1e-9
    for answer, (_, row) in zip(
        bf.Explainer(model, CELLS).explain(CELLS[:5], bf.value(at_most=most)), CELLS[:5].iterrows(), strict=True
    ):
        assert answer.cost == pytest.approx(cheapest(wanted, row, lambda x: x <= most), abs=1e-9)


@pytest.mark.parametrize("setting", ['castInteger="round"', 'min="0"', 'max="1"'])
@pytest.mark.parametrize("name", MODELS)
def test_other_targets_are_refused(name, setting, tmp_path) -> None:
    with pytest.raises(UnsupportedModelError, match=setting.split("=")[0]):
        read(MODELS[name].replace(SCHEMA, f"{SCHEMA}<Targets><Target {setting}/></Targets>", 1), tmp_path)


def test_members_of_a_sum_are_rescaled(tmp_path) -> None:
    text = segments(np.random.default_rng(0), "sum", False)
    wanted = 4 * 3 - 0.5 * read(text, tmp_path).predict(CELLS)
    outer, *trees = text.split(SCHEMA)
    model = read(outer + SCHEMA + (SCHEMA + RESCALED).join(trees), tmp_path)
    assert model.predict(CELLS) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    check_importer(model, CELLS)


def rescaled_chain(link: str, where: str) -> str:
    """A chain that ends in a regression, whose predictions are rescaled: those of the last model, or of the outermost."""
    text = chain(False).replace('functionName="classification"', 'functionName="regression"')
    text = text.replace('normalizationMethod="logit"', f'normalizationMethod="{link}"')
    text = text.replace('<RegressionTable intercept="0" targetCategory="no"/>', "")
    at = (
        "</MiningSchema><RegressionTable"
        if where == "last"
        else f'{SCHEMA}<Segmentation multipleModelMethod="modelChain"'
    )
    return text.replace(at, at.replace("</MiningSchema>", f"</MiningSchema>{RESCALED}"))


@pytest.mark.parametrize("where", ["last", "outermost"])
def test_a_chain_is_rescaled_unless_it_has_a_link(where, tmp_path) -> None:
    plain = rescaled_chain("none", where).replace(RESCALED, "")
    wanted = 3 - 0.5 * read(plain, tmp_path).predict(CELLS)
    model = read(rescaled_chain("none", where), tmp_path)
    assert model.predict(CELLS) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    check_importer(model, CELLS)
    with pytest.raises(UnsupportedModelError, match="Targets behind a link"):
        read(rescaled_chain("exp", where), tmp_path)
    no_change = rescaled_chain("exp", where).replace("-0.5", "1").replace('rescaleConstant="3"', "")
    exponential = read(plain.replace('normalizationMethod="none"', 'normalizationMethod="exp"'), tmp_path).predict(
        CELLS
    )
    assert read(no_change, tmp_path).predict(CELLS).tolist() == exponential.tolist()


@pytest.mark.parametrize(
    ("how", "classes", "told"),
    [
        ("median", False, "rescale a median"),
        ("majorityVote", True, "rescale votes"),
        ("average", True, "rescale classes"),
    ],
)
def test_targets_of_members_whose_predictions_are_no_sum_are_refused(how, classes, told, tmp_path) -> None:
    outer, *trees = segments(np.random.default_rng(0), how, classes, count=3).split(SCHEMA)
    with pytest.raises(UnsupportedModelError, match=told):
        read(outer + SCHEMA + (SCHEMA + RESCALED).join(trees), tmp_path, TWO_CLASSES if classes else None)


def test_several_targets_are_refused(tmp_path) -> None:
    two = RESCALED.replace("</Targets>", '<Target field="z"/></Targets>')
    with pytest.raises(UnsupportedModelError, match="several Targets"):
        read(CARD.replace(SCHEMA, SCHEMA + two), tmp_path)


def test_the_line_is_the_one_that_was_written(tmp_path) -> None:
    assert read(LINE, tmp_path).predict(CELLS) == pytest.approx(line(WEIGHTS), rel=1e-12)
