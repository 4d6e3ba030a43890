"""Trees handed in as arrays: what they predict, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from butfor.errors import InputError
from butfor.trees import ObliqueTreeClassifier, ObliqueTreeRegressor, TAOClassifier

STUMP = {
    "weights": [[1.0, -2.0], [0, 0], [0, 0]], "bias": [0.5, 0, 0], "left": [1, -1, -1], "right": [2, -1, -1],
    "value": [[0, 0], [1, 0], [0.25, 0.75]], "classes": ["no", "yes"],
}  # fmt: skip


def test_goes_right_at_zero():
    tree = ObliqueTreeClassifier(**STUMP)
    assert tree.predict([[1.5, 1.0], [1.4, 1.0]]).tolist() == ["yes", "no"]
    assert tree.predict_proba([[1.5, 1.0]]).tolist() == [[0.25, 0.75]]
    assert clone(tree).predict([[1.5, 1.0]]) == ["yes"]


def test_the_arrays_of_tao_make_the_same_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    learnt = TAOClassifier(3, tol=0.1).fit(X, X[:, 0] + X[:, 1] > 0)
    given = ObliqueTreeClassifier(
        learnt.weights_, learnt.bias_, learnt.left_, learnt.right_, learnt.value_, learnt.classes_
    )
    assert (given.predict_proba(X) == learnt.predict_proba(X)).all()
    assert given.export_text() == learnt.export_text()


def test_names_are_those_of_the_frame():
    tree = ObliqueTreeClassifier(**STUMP, feature_names=["a", "b"])
    assert tree.predict(pd.DataFrame({"a": [1.5], "b": [1.0]})) == ["yes"]
    with pytest.raises(ValueError, match="feature names"):
        tree.predict(pd.DataFrame({"b": [1.0], "a": [1.5]}))


def test_values_of_a_regressor_may_be_flat():
    tree = ObliqueTreeRegressor([[1.0], [0], [0]], [0, 0, 0], [1, -1, -1], [2, -1, -1], [0, 10, 20])
    assert tree.predict([[-1.0], [0.0]]).tolist() == [10, 20]


def test_other_arrays_make_another_tree_or_change_nothing():
    tree = ObliqueTreeClassifier(**STUMP, feature_names=["a", "b"])
    changed = {"bias": [-5, 0, 0], "classes": ["low", "high"], "feature_names": None}
    assert tree.set_params(**changed) is tree
    fresh = ObliqueTreeClassifier(**{**STUMP, **changed})
    assert tree.predict([[1.5, 1.0]]) == fresh.predict([[1.5, 1.0]]) == ["low"]
    assert tree.bias_.tolist() == [-5, 0, 0]
    assert not hasattr(tree, "feature_names_in_")
    for wrong, said in (({"bias": [1.0]}, "bias of shape"), ({"slope": 1}, "Invalid parameter 'slope'")):
        with pytest.raises(ValueError, match=said):
            tree.set_params(**wrong)
        assert tree.bias == [-5, 0, 0]
    number = ObliqueTreeRegressor([[1.0], [0], [0]], [0, 0, 0], [1, -1, -1], [2, -1, -1], [0, 10, 20])
    assert number.set_params(value=[0, 1, 2]).predict([[-1.0], [0.0]]).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bias": [0.5]}, r"bias of shape \(1,\)"),
        ({"value": [1.0, 0.0, 1.0]}, r"value of shape \(3,\)"),
        ({"weights": [[np.nan, 1], [0, 0], [0, 0]]}, "finite"),
        ({"weights": "tall"}, "finite"),
        ({"left": [1.5, -1, -1]}, r"left contains 1\.5"),
        ({"left": [0, -1, -1]}, "do not make a tree"),
        ({"right": [1, -1, -1]}, "do not make a tree"),
        ({"right": [-1, -1, -1]}, "do not make a tree"),
        ({"feature_names": ["a"]}, "1 feature names"),
        ({"classes": ["a", "b", "c"]}, r"value of shape \(3, 2\)"),
    ],
)
def test_refuses(changed, said):
    with pytest.raises(InputError, match=said):
        ObliqueTreeClassifier(**{**STUMP, **changed})


LEARN = {
    "check_classifiers_classes", "check_classifiers_one_label", "check_classifiers_regression_target",
    "check_classifiers_train", "check_complex_data", "check_dict_unchanged", "check_dtype_object",
    "check_estimator_sparse_tag", "check_estimators_dtypes", "check_estimators_empty_data_messages",
    "check_estimators_nan_inf", "check_estimators_pickle", "check_f_contiguous_array_estimator", "check_fit1d",
    "check_fit_score_takes_y", "check_methods_sample_order_invariance", "check_methods_subset_invariance",
    "check_n_features_in_after_fitting", "check_pipeline_consistency", "check_regressor_data_not_an_array",
    "check_regressors_int", "check_regressors_train", "check_supervised_y_2d", "check_supervised_y_no_nan",
}  # fmt: skip
"""Checks that learn from rows of any number of columns. A given tree has columns of its own, and reads no rows."""
AT_ONCE = {
    "check_do_not_raise_errors_in_init_or_set_params", "check_estimators_unfitted", "check_fit_check_is_fitted",
    "check_n_features_in", "check_no_attributes_set_in_init", "check_set_params",
}  # fmt: skip
"""Checks that nothing is there, and nothing refused, before `fit`. A given tree can predict at once."""


@pytest.mark.parametrize(
    "tree",
    [
        ObliqueTreeClassifier([[1.0, 1.0], [0, 0], [0, 0]], [0, 0, 0], [1, -1, -1], [2, -1, -1], np.eye(3, 2), [0, 1]),
        ObliqueTreeRegressor([[1.0, 1.0], [0, 0], [0, 0]], [0, 0, 0], [1, -1, -1], [2, -1, -1], [0, 1, 2]),
    ],
)
def test_of_the_checks_of_scikit_learn_only_those_that_learn_are_failed(tree):
    results = check_estimator(tree, on_fail=None, on_skip=None)
    failed = {one["check_name"] for one in results if one["status"] == "failed"}
    assert failed <= LEARN | AT_ONCE
    assert sum(one["status"] == "passed" for one in results) >= 20
