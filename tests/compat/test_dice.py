"""DiCE's calls, answered by butfor: each parameter means what it says there."""

from __future__ import annotations

import json
import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.compat import dice as dice_ml
from butfor.datasets import loans

X, Y = loans.load()
MODEL = loans.pipeline().fit(X, Y)
ROWS = X[MODEL.predict(X) == "rejected"].iloc[:4]
NUMBERS = ["age", "income", "savings", "amount", "months", "late_payments"]
DATA = dice_ml.Data(dataframe=X.assign(outcome=Y), continuous_features=NUMBERS, outcome_name="outcome")
DICE = dice_ml.Dice(DATA, dice_ml.Model(model=MODEL, backend="sklearn"), method="genetic")

SMALL = pd.DataFrame(product(["a", "b", "c"], range(1, 7)), columns=["kind", "size"])
SMALL_Y = ((SMALL["size"] > 3) & (SMALL["kind"] != "a")).astype(int)
SMALL_MODEL = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"),
    DecisionTreeClassifier(random_state=0),
).fit(SMALL, SMALL_Y)


def small(method: str = "random", **known) -> dice_ml.Dice:
    data = dice_ml.Data(dataframe=SMALL.assign(y=SMALL_Y), continuous_features=["size"], outcome_name="y", **known)
    return dice_ml.Dice(data, dice_ml.Model(model=SMALL_MODEL, backend="sklearn"), method=method)


def tables(found: dice_ml.CounterfactualExplanations) -> pd.DataFrame:
    return pd.concat([one.final_cfs_df for one in found.cf_examples_list])


def test_the_answers_are_those_of_explain() -> None:
    found = DICE.generate_counterfactuals(ROWS, total_CFs=2)
    own = bf.Explainer(MODEL, X).explain(ROWS, "approved", k=2)
    assert found.answers == list(own)
    assert tables(found)[list(X)].to_numpy().tolist() == own.points.to_numpy().tolist()
    assert set(tables(found)["outcome"]) == {"approved"}
    assert [one.test_instance_df["outcome"].tolist() for one in found.cf_examples_list] == [["rejected"]] * 4
    assert found.cf_examples_list[0].final_cfs_df.dtypes.equals(found.cf_examples_list[0].test_instance_df.dtypes)


def test_so_many_answers_are_found_and_further_ones_are_the_cheapest() -> None:
    row = pd.DataFrame({"kind": ["a"], "size": [1]})
    found = small().generate_counterfactuals(row, total_CFs=5)
    table = found.cf_examples_list[0].final_cfs_df
    assert len(table.drop_duplicates()) == 5
    assert SMALL_MODEL.predict(table[["kind", "size"]]).tolist() == [1] * 5
    every = sorted(1 + (size - 1) / 5 for _, size in product("bc", (4, 5, 6)))
    assert [one.cost for one in found.answers] == pytest.approx(sorted(every)[:5])
    assert len(small().generate_counterfactuals(row, total_CFs=50).answers) == 6, "there are no more"


def test_a_row_that_is_as_wanted_gets_other_rows() -> None:
    row = pd.DataFrame({"kind": ["b"], "size": [5]})
    table = small().generate_counterfactuals(row, total_CFs=5, desired_class=1).cf_examples_list[0].final_cfs_df
    assert {*map(tuple, table[["kind", "size"]].to_numpy())} == {*product("bc", (4, 5, 6))} - {("b", 5)}


def test_many_columns_get_further_answers_too() -> None:
    found = DICE.generate_counterfactuals(ROWS.iloc[:1], total_CFs=12, features_to_vary=["income", "amount", "job"])
    table = found.cf_examples_list[0].final_cfs_df
    assert len(table.drop_duplicates()) == 12
    assert (MODEL.predict(table[list(X)]) == "approved").all()
    assert {change.name for one in found.answers for change in one.changes} <= {"income", "amount", "job"}


def test_the_wanted_class_may_be_named_or_counted() -> None:
    named = DICE.generate_counterfactuals(ROWS, 1, desired_class="approved")
    assert MODEL.classes_[0] == "approved"
    assert named.answers == DICE.generate_counterfactuals(ROWS, 1, desired_class=0).answers
    flowers, kinds = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(flowers, kinds)
    data = dice_ml.Data(dataframe=flowers.assign(kind=kinds), continuous_features=list(flowers), outcome_name="kind")
    wanted = dice_ml.Dice(data, dice_ml.Model(model=tree)).generate_counterfactuals(flowers[:2], 1, desired_class=2)
    assert tables(wanted)["kind"].tolist() == [2, 2]
    for given, error in (("opposite", "opposite if the number of classes"), (7, "not present"), ("z", "identified")):
        with pytest.raises(dice_ml.UserConfigValidationException, match=error):
            dice_ml.Dice(data, dice_ml.Model(model=tree)).generate_counterfactuals(flowers[:2], 1, desired_class=given)


def test_a_class_that_is_the_position_of_another_is_pointed_out() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(SMALL[["size"]], SMALL_Y + 1)
    data = dice_ml.Data(dataframe=SMALL[["size"]].assign(y=1), continuous_features=["size"], outcome_name="y")
    row = pd.DataFrame({"size": [1]})
    with pytest.warns(UserWarning, match="the class is 2. For the class 1, give 0"):
        found = dice_ml.Dice(data, dice_ml.Model(model=tree)).generate_counterfactuals(row, 1, desired_class=1)
    assert tables(found)["y"].tolist() == [2]


def test_only_the_named_features_vary() -> None:
    found = DICE.generate_counterfactuals(ROWS, total_CFs=3, features_to_vary=["income", "late_payments"])
    assert {change.name for one in found.answers for change in one.changes} <= {"income", "late_payments"}


def test_ranges_are_kept_and_may_go_beyond_the_data() -> None:
    ranges = {"income": [0, 30_000], "job": ["permanent", "temporary"]}
    found = tables(DICE.generate_counterfactuals(ROWS, total_CFs=2, permitted_range=ranges))
    assert found["income"].between(0, 30_000).all()
    assert found["job"].isin(ranges["job"]).all()
    row = pd.DataFrame({"kind": ["b"], "size": [1]})
    for dice, given in ((small(), {"size": [8, 9]}), (small(permitted_range={"size": [8, 9]}), None)):
        table = tables(dice.generate_counterfactuals(row, total_CFs=3, permitted_range=given))
        assert table["size"].between(8, 9).all()
        assert len(table) == 3


KINDS = ["kind_a", "kind_b", "kind_c"]


@pytest.mark.parametrize(("kind", "numbers"), [(bool, False), (int, False), (float, False), (int, True), (float, True)])
def test_dummies_are_one_feature(kind: type, numbers: bool) -> None:
    table = pd.get_dummies(SMALL, columns=["kind"], dtype=kind)
    tree, continuous = DecisionTreeClassifier(random_state=0).fit(table, SMALL_Y), ["size", *KINDS * numbers]
    data = dice_ml.Data(dataframe=table.assign(y=SMALL_Y), continuous_features=continuous, outcome_name="y")
    dice = dice_ml.Dice(data, dice_ml.Model(model=tree))
    row = table[(SMALL["kind"] == "a") & (SMALL["size"] == 5)]

    def found(**asked) -> set[tuple[str, int]]:
        answers = tables(dice.generate_counterfactuals(row, total_CFs=6, **asked))
        assert answers[list(table)].dtypes.equals(table.dtypes)
        assert (answers[KINDS].sum(axis=1) == 1).all()
        return {*zip(answers[KINDS].astype(float).idxmax(axis=1).str[-1], answers["size"], strict=True)}

    assert found() == {*product("bc", (4, 5, 6))}
    zero, one = ([kind(n), kind(n)] if numbers else [str(kind(n))] for n in (0, 1))
    assert found(permitted_range={"kind_b": zero}) == {*product("c", (4, 5, 6))}
    assert found(permitted_range={"kind_b": one}) == {*product("b", (4, 5, 6))}
    assert found(features_to_vary=["kind_a", "kind_c"]) == {("c", 5)}
    for held in (["size"], ["size", "kind_c"]):
        with pytest.raises(dice_ml.UserConfigValidationException, match="PROVEN_INFEASIBLE"):
            found(features_to_vary=held)
    if numbers:
        with pytest.raises(dice_ml.UserConfigValidationException, match=r"'kind_b': \[3, 4\]} permits no value"):
            found(permitted_range={"kind_b": [3, 4]})


def test_columns_may_be_called_by_numbers() -> None:
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (100, 3)))
    y = (table[0] + table[1] > 8).astype(int)
    data = dice_ml.Data(dataframe=table.assign(y=y), continuous_features=[0, 1, 2], outcome_name="y")
    dice = dice_ml.Dice(data, dice_ml.Model(model=DecisionTreeClassifier(random_state=0).fit(table.to_numpy(), y)))
    found = tables(dice.generate_counterfactuals(table[y == 0][:3], total_CFs=2, permitted_range={0: [0, 3]}))
    assert found["y"].tolist() == [1] * 6
    assert found[0].between(0, 3).all()


@pytest.mark.filterwarnings("ignore:the model does not read")
def test_a_column_that_the_model_drops_may_have_a_range() -> None:
    dropping = make_pipeline(make_column_transformer(("passthrough", ["size"])), DecisionTreeClassifier(random_state=0))
    data = dice_ml.Data(dataframe=SMALL.assign(y=SMALL_Y), continuous_features=["size"], outcome_name="y")
    dice = dice_ml.Dice(data, dice_ml.Model(model=dropping.fit(SMALL, SMALL["size"] > 3)))
    found = tables(dice.generate_counterfactuals(SMALL[:1], total_CFs=2, permitted_range={"kind": ["b"]}))
    assert found["kind"].tolist() == ["b", "b"]


def test_a_probability_is_reached() -> None:
    for threshold in (0.9, 0.1):  # DiCE means the probability of the second class
        found = DICE.generate_counterfactuals(ROWS, 1, stopping_threshold=threshold)
        assert (MODEL.predict_proba(tables(found)[list(X)])[:, 0] >= 0.9).all()


def test_a_regressor_has_a_range() -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(table, table["a"] + table["b"])
    data = dice_ml.Data(dataframe=table.assign(y=0.0), continuous_features=["a", "b"], outcome_name="y")
    dice = dice_ml.Dice(data, dice_ml.Model(model=model, model_type="regressor"))
    found = tables(dice.generate_counterfactuals(table[:3], total_CFs=4, desired_range=[0.5, 1.5]))
    assert len(found) == 12
    assert found["y"].between(0.5, 1.5).all()
    assert found["y"].tolist() == model.predict(found[["a", "b"]]).tolist()


def test_numbers_that_are_not_continuous_are_categories() -> None:
    table = pd.DataFrame({"code": [10, 20, 30, 40] * 20, "x": np.linspace(0.0, 1.0, 80)})
    y = (table["code"] > 15) & (table["x"] > 0.3)
    model = DecisionTreeClassifier(random_state=0).fit(table, y)
    data = dice_ml.Data(dataframe=table.assign(y=y), continuous_features=["x"], outcome_name="y")
    dice = dice_ml.Dice(data, dice_ml.Model(model=model))
    assert dice.explainer.space["code"].levels == (10, 20, 30, 40)
    found = tables(dice.generate_counterfactuals(table[:2], total_CFs=3, permitted_range={"code": ["20", "30"]}))
    assert set(found["code"]) <= {20, 30}


def test_rows_of_the_data_answer_a_kdtree() -> None:
    found = small("kdtree").generate_counterfactuals(pd.DataFrame({"kind": ["b"], "size": [1]}), total_CFs=3)
    table = found.cf_examples_list[0].final_cfs_df
    assert table[["kind", "size"]].equals(SMALL.loc[table.index])
    assert list(table.index[:2]) == [9, 10]  # b 4, b 5


def test_ranges_and_levels_alone_suffice() -> None:
    data = dice_ml.Data(
        features={"kind": ["a", "b", "c"], "size": [1, 6]}, outcome_name="y", type_and_precision={"size": "int"}
    )
    row = {"kind": "a", "size": 1}
    found = dice_ml.Dice(data, dice_ml.Model(model=SMALL_MODEL)).generate_counterfactuals(row, total_CFs=2)
    assert [one.cost for one in found.answers] == pytest.approx([1.6, 1.6])
    assert data.get_valid_mads() == {"size": 1.0}
    with pytest.raises(dice_ml.UserConfigValidationException, match="Private data interface is not supported"):
        dice_ml.Dice(data, dice_ml.Model(model=SMALL_MODEL), method="kdtree")


def test_an_encoding_is_read_and_a_function_is_searched() -> None:
    data = small().data_interface
    encoded = data.get_ohe_min_max_normalized_data(SMALL)
    assert list(encoded) == ["size", "kind_a", "kind_b", "kind_c"]
    assert data.get_inverse_ohe_min_max_normalized_data(encoded).equals(SMALL.astype({"size": float}))
    tree = DecisionTreeClassifier(random_state=0).fit(encoded, SMALL_Y)
    row = SMALL.iloc[[0]]
    exact = dice_ml.Dice(data, dice_ml.Model(model=tree, func="ohe-min-max")).generate_counterfactuals(row, 1)
    assert exact.answers[0].certificate.status is bf.Status.PROVEN_OPTIMAL
    model = dice_ml.Model(
        model=tree, func=lambda rows, data_interface: data_interface.get_ohe_min_max_normalized_data(rows)
    )
    searched = dice_ml.Dice(data, model).generate_counterfactuals(row, 1)
    assert searched.answers[0].cost == pytest.approx(exact.answers[0].cost) == 1.6
    assert searched.answers[0].certificate.status is not bf.Status.PROVEN_INFEASIBLE


def test_settings_of_searches_are_named_in_one_warning() -> None:
    with pytest.warns(UserWarning, match="nothing to butfor") as told:
        found = DICE.generate_counterfactuals(
            ROWS, 1, proximity_weight=0.5, sample_size=10, posthoc_sparsity_param=0.2, verbose=False, random_seed=3
        )
    assert [str(one.message).split(" mean ")[0] for one in told] == [
        "proximity_weight, sample_size, posthoc_sparsity_param"
    ]
    assert found.answers[0].certificate.seed == 3
    weighed = DICE.generate_counterfactuals(ROWS, 1, feature_weights={"income": 50.0})
    assert weighed.answers == list(
        bf.Explainer(MODEL, X).explain(ROWS, "approved", cost=bf.L1(weights={"income": 50.0}))
    )


def test_our_own_arguments_are_taken_too() -> None:
    found = DICE.generate_counterfactuals(ROWS, 1, cost=bf.L0(), constraints="fixed age", seed=3)
    assert found.answers == list(
        bf.Explainer(MODEL, X).explain(ROWS, "approved", cost=bf.L0(), constraints=bf.fixed("age"), seed=3)
    )
    assert len(DICE.generate_counterfactuals(ROWS, 4, time_limit=20).cf_examples_list) == 4


@pytest.mark.long
def test_importances_are_shares_of_answers() -> None:
    rows = SMALL[SMALL_Y == 0].iloc[:10]
    found = small().global_feature_importance(rows, total_CFs=10)
    changed = [
        {name: (table[name] != row[name]).mean() for name in SMALL}
        for table, (_, row) in zip((one.final_cfs_df for one in found.cf_examples_list), rows.iterrows(), strict=True)
    ]
    assert found.local_importance == changed
    counts = [len(one.final_cfs_df) for one in found.cf_examples_list]
    whole = {name: np.average([one[name] for one in changed], weights=counts) for name in SMALL}
    assert found.summary_importance == pytest.approx(whole)
    assert list(found.summary_importance.values()) == sorted(whole.values(), reverse=True)
    again = small().local_feature_importance(None, cf_examples_list=[_of_ten(found)] * 2)
    assert again.summary_importance is None
    assert len(again.local_importance) == 2
    with pytest.raises(ValueError, match="than or equal to 10"):
        small().global_feature_importance(rows[:3])


def _of_ten(found: dice_ml.CounterfactualExplanations) -> dice_ml.CounterfactualExamples:
    """Answers to a row, twice: DiCE wants ten."""
    one = dice_ml.CounterfactualExamples.from_json(found.cf_examples_list[0].to_json("2.0"))
    one.final_cfs_df = one.final_cfs_df_sparse = pd.concat([one.final_cfs_df] * 2)
    return one


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_json_is_read_again(version: str) -> None:
    found = DICE.generate_counterfactuals(ROWS, total_CFs=2)
    found.metadata["version"] = version
    written = json.loads(found.to_json())
    assert dice_ml.CounterfactualExplanations.from_json(found.to_json()) == found
    assert written["metadata"] == {"version": version}
    if version == "2.0":
        assert written["feature_names_including_target"] == [*X, "outcome"]
        assert written["cfs_list"][0][0] == found.cf_examples_list[0].final_cfs_df.iloc[0].tolist()
    found.cf_examples_list[0].final_cfs_df = found.cf_examples_list[0].final_cfs_df_sparse = None
    again = dice_ml.CounterfactualExplanations.from_json(found.to_json())
    assert again == found
    assert again.cf_examples_list[0].final_cfs_df is None
    with pytest.raises(dice_ml.UserConfigValidationException, match="Incompatible version 3"):
        dice_ml.CounterfactualExplanations.from_json('{"metadata": {"version": "3"}}')
    with pytest.raises(dice_ml.UserConfigValidationException, match="Unsupported serialization version 3"):
        dice_ml.CounterfactualExplanations([], version="3").to_json()


def test_answers_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = small().generate_counterfactuals(pd.DataFrame({"kind": ["b"], "size": [1]}), total_CFs=1)
    found.visualize_as_list(show_only_changes=True)
    assert capsys.readouterr().out == (
        "Query instance (original outcome : 0)\n['b', 1, 0]\n\n"
        "Diverse Counterfactual set (new outcome: 1)\n['-', 4, 1]\n"
    )
    found.visualize_as_dataframe()
    assert "   b     4  1" in capsys.readouterr().out
    found.cf_examples_list[0].final_cfs_df = found.cf_examples_list[0].final_cfs_df_sparse = None
    found.visualize_as_list()
    assert "No counterfactuals found!" in capsys.readouterr().out


def test_a_small_change_of_a_large_number_is_a_change() -> None:
    table = pd.DataFrame({"wage": [1_000_000 + i for i in range(0, 40, 4)]})
    y = (table["wage"] > 1_000_018).astype(int)
    data = dice_ml.Data(dataframe=table.assign(y=y), continuous_features=["wage"], outcome_name="y")
    dice = dice_ml.Dice(data, dice_ml.Model(model=DecisionTreeClassifier(random_state=0).fit(table, y)))
    found = dice.local_feature_importance(table.iloc[[4]], total_CFs=10)
    assert abs(found.cf_examples_list[0].final_cfs_df["wage"].iloc[0] - 1_000_016) < 4
    assert found.local_importance == [{"wage": 1.0}]


def test_an_explainer_is_kept_in_a_file(tmp_path) -> None:
    row = pd.DataFrame({"kind": ["b"], "size": [1]})
    dice = small("kdtree")
    dice.serialize_explainer(tmp_path / "dice.pkl")
    again = type(dice).deserialize_explainer(tmp_path / "dice.pkl")
    assert again.generate_counterfactuals(row, 2) == dice.generate_counterfactuals(row, 2)


def test_the_data_tell_what_scripts_ask() -> None:
    assert DATA.continuous_feature_names == NUMBERS
    assert DATA.categorical_feature_names == [name for name in X if name not in NUMBERS]
    assert DATA.get_mads()["age"] == (X["age"] - X["age"].median()).abs().median()
    scaled = DATA.normalize_data(DATA.data_df)
    assert (scaled["income"].min(), scaled["income"].max()) == (0, 1)
    assert np.allclose(DATA.de_normalize_data(scaled)["income"], X["income"])
    assert DATA.get_decimal_precisions("dict")["savings"] == 2
    assert DATA.get_features_range({"age": [20, 30]})[0]["age"] == [20, 30]
    DATA.create_ohe_params(DATA.get_ohe_min_max_normalized_data(X.iloc[[0]]))
    names = DATA.ohe_encoded_feature_names
    assert {names[i] for i in DATA.get_indexes_of_features_to_vary(["sex"])} == {"sex_female", "sex_male"}
    assert DATA.get_minx_maxx(normalized=False)[1][0, 0] == X["age"].max()
    pd.testing.assert_frame_equal(DATA.rows, X)


def test_scripts_find_dice_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.split(".")[0] in ("dice_ml", "raiutils")]:
        monkeypatch.delitem(sys.modules, name)
    dice_ml.install()
    scope: dict[str, object] = {}
    exec(
        "import dice_ml\n"
        "from dice_ml import Data, Dice, Model\n"
        "from dice_ml.counterfactual_explanations import CounterfactualExplanations\n"
        "from dice_ml.explainer_interfaces.explainer_base import ExplainerBase\n"
        "from dice_ml.utils.exception import SystemException\n"
        "from dice_ml.constants import ModelTypes\n"
        "from raiutils.exceptions import UserConfigValidationException\n",
        scope,
    )
    assert scope["Dice"] is dice_ml.Dice
    assert scope["dice_ml"].data_interfaces.public_data_interface.PublicData is type(DATA)
    assert isinstance(DICE, scope["ExplainerBase"])
    assert dice_ml.model_interfaces.base_model.BaseModel is dice_ml.Model
    assert issubclass(dice_ml.UserConfigValidationException, scope["UserConfigValidationException"])
    with pytest.raises(AttributeError, match="load the data yourself"):
        scope["dice_ml"].utils.helpers.load_adult_income_dataset()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        dice_ml.nonsense  # noqa: B018


MISSING = ROWS.assign(age=np.nan)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: DICE.generate_counterfactuals(ROWS, 0), ValueError, "should be a positive integer"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, desired_class="gold"), ValueError, "gold could not be"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, desired_class=7), ValueError, "Desired class not present"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, features_to_vary="age"), TypeError, "features_to_vary='age'"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, features_to_vary=["wage"]), ValueError, "features {'wage'}"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, features_to_vary=[]), ValueError, "need to be varied"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, permitted_range={"wage": [0, 1]}), ValueError, "{'wage'}"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, permitted_range={"job": ["x"]}), ValueError, "category x does"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, desired_range=[0, 1]), ValueError, "should not be set"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, stopping_threshold=2), ValueError, "between 0.0 and 1.0"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, feature_weights=3), ValueError, "feature_weights=3"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, tempo=3), TypeError, "no argument 'tempo'"),
        (lambda: DICE.generate_counterfactuals(MISSING, 1), ValueError, "any missing values"),
        (lambda: DICE.generate_counterfactuals(ROWS.assign(job="x"), 1), ValueError, "outside the dataset"),
        (lambda: DICE.generate_counterfactuals(ROWS.assign(wage=1), 1), ValueError, "not present in training data"),
        (lambda: DICE.generate_counterfactuals(ROWS[["age"]], 1), ValueError, "has no feature"),
        (lambda: DICE.generate_counterfactuals(3, 1), ValueError, "should be a dict"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, constraints=bf.fixed(*X)), ValueError, "PROVEN_INFEASIBLE"),
        (lambda: DICE.build_KD_tree(), AttributeError, "has no 'build_KD_tree'"),
        (lambda: dice_ml.Dice(DATA, DICE.model, method="magic"), ValueError, "magic provided"),
        (lambda: dice_ml.Data(dataframe=X, continuous_features=NUMBERS, outcome_name="y"), ValueError, "y not found"),
        (lambda: dice_ml.Data(dataframe=X, continuous_features=["x"], outcome_name="age"), ValueError, "not part of"),
        (lambda: dice_ml.Data(dataframe=X, outcome_name="age"), ValueError, "should be provided"),
        (lambda: dice_ml.Data(features=[], outcome_name="age"), ValueError, "dictionary with feature names"),
        (lambda: dice_ml.Dice(X, MODEL), TypeError, "needs a Data and a Model"),
        (lambda: dice_ml.Model(), ValueError, "either a trained model or the path"),
        (lambda: dice_ml.Model(model=MODEL, model_type="x"), ValueError, "x model type not"),
        (lambda: dice_ml.Model(model_path="m.pkl").load_model(), ValueError, "does not open files that run code"),
        (
            lambda: dice_ml.Dice(
                small().data_interface, dice_ml.Model(model=LinearRegression().fit(SMALL[["size"]], SMALL_Y))
            ).generate_counterfactuals(SMALL[:1], 1),
            ValueError,
            "predicts no classes",
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:the model does not read")
def test_bad_input_is_refused(call, error, words) -> None:
    with pytest.raises(error, match=words):
        call()


def test_an_explainer_is_called_and_answers_are_sliced() -> None:
    explainer = bf.Explainer(MODEL, X)
    answers = explainer(ROWS, target="approved")
    assert answers == explainer.explain(ROWS, target="approved")
    assert answers[1, "income"] == answers[1]["income"] == answers[1].columns()[X.columns.get_loc("income")]
    assert answers[:, "income"] == [one["income"] for one in answers]
    assert answers[np.array([True, False, True, False]), "age"] == [answers[0, "age"], answers[2, "age"]]
    assert answers[-1, "job"].name == "job"
    for wrong in (lambda: answers[0, "wage"], lambda: answers[:, "wage"], lambda: answers[0]["wage"]):
        with pytest.raises(bf.errors.UnknownColumnError, match="no column 'wage'"):
            wrong()
    with pytest.raises(IndexError):
        answers[99, "income"]


def test_a_model_of_arrays_has_numbered_columns() -> None:
    table = np.random.default_rng(0).normal(size=(60, 2))
    answers = bf.Explainer(LogisticRegression().fit(table, table[:, 0] > 0), table)(table[:2])
    assert answers[0, "x0"].changed
