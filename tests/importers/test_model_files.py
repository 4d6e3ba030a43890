"""Models of the wrong class and models in files: they are read if that is safe, and else the error says what to write."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import butfor as bf
from butfor.cli.commands import app

X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("abc"))
BAD = (X["a"] + X["b"] > 0).astype(int).to_numpy()
WORDS = np.where(BAD, "yes", "no")
QUIET = {"iterations": 10, "verbose": 0, "allow_writing_files": False}


def solved(model, row, target):
    answer = bf.Explainer(model, data=X).explain(row, target=target)
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    return answer


def same_answers(one, other, row, target):
    first, second = solved(one, row, target), solved(other, row, target)
    assert first.cost == second.cost
    assert bf.check(first, other).passed


@pytest.fixture
def file(tmp_path):
    return lambda ending: str(tmp_path / f"model{ending}")


def refused(model, *words, data=X, error=bf.errors.InputError):
    with pytest.raises(error) as raised:
        bf.Explainer(model, data=data)
    for word in words:
        assert word in str(raised.value)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("labels", [BAD, WORDS, np.digitize(X["a"], [-0.5, 0.5])])
@pytest.mark.parametrize("form", ["cbm", "json"])
def test_catboost_by_its_base_class_is_the_classifier(labels, form, file):
    catboost = pytest.importorskip("catboost")
    catboost.CatBoostClassifier(**QUIET).fit(X, labels).save_model(file(f".{form}"), format=form)
    fitted, model = catboost.CatBoostClassifier(), catboost.CatBoost()
    for one in (fitted, model):
        one.load_model(file(f".{form}"), format=form)
    now = np.ravel(fitted.predict(X))
    target = sorted(set(labels.tolist()))[-1]
    row = X[now != target].iloc[[0]]
    same_answers(fitted, model, row, target)
    same_answers(fitted, file(f".{form}"), row, bf.probability(target, at_least=0.6))


def test_catboost_trained_by_its_base_class():
    catboost = pytest.importorskip("catboost")
    settings = {**QUIET, "loss_function": "Logloss"}
    model = catboost.CatBoost(settings).fit(X, BAD)
    same_answers(catboost.CatBoostClassifier(**settings).fit(X, BAD), model, X[BAD == 0].iloc[[0]], 1)


def test_catboost_of_a_regressor_is_a_regressor(file):
    catboost = pytest.importorskip("catboost")
    fitted = catboost.CatBoostRegressor(**QUIET).fit(X, X["a"])
    fitted.save_model(file(".cbm"))
    model = catboost.CatBoost()
    model.load_model(file(".cbm"))
    same_answers(fitted, model, X.iloc[[0]], bf.value(at_least=0.8))
    with pytest.raises(bf.errors.InputError, match="for a regressor"):
        bf.Explainer(model, data=X).explain(X.iloc[[0]], target=1)


def test_catboost_of_another_loss_predicts_as_its_class_does(file):
    catboost = pytest.importorskip("catboost")
    fitted = catboost.CatBoostRegressor(**QUIET, loss_function="Poisson").fit(X, BAD)
    model = catboost.CatBoost({**QUIET, "loss_function": "Poisson"}).fit(X, BAD)
    values = bf.Explainer(model, data=X).reading.source.values(X)
    assert np.array_equal(values, fitted.predict(X))


def test_catboost_of_the_wrong_class_says_which_is_right(file):
    catboost = pytest.importorskip("catboost")
    catboost.CatBoostClassifier(**QUIET).fit(X, WORDS).save_model(file(".cbm"))
    model = catboost.CatBoostRegressor()
    model.load_model(file(".cbm"))
    refused(model, "'Logloss'", "['no', 'yes']", "catboost.CatBoostClassifier().load_model(...)")
    catboost.CatBoostRegressor(**QUIET).fit(X, X["a"]).save_model(file(".cbm"))
    model = catboost.CatBoostClassifier()
    model.load_model(file(".cbm"))
    refused(model, "'RMSE'", "catboost.CatBoostRegressor().load_model(...)")
    for kind in (catboost.CatBoost, catboost.CatBoostClassifier):
        refused(kind(), "not fitted", error=bf.errors.NotFittedError)


def test_catboost_by_its_base_class_with_a_ranking_is_a_black_box_of_values():
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoost({**QUIET, "loss_function": "YetiRank"}).fit(X, BAD, group_id=np.arange(300) // 10)
    answer = bf.Explainer(model, data=X).explain(X.iloc[[0]], target=bf.relative_change(0.1))
    assert answer.certificate.status is bf.Status.VALID
    with pytest.raises(bf.errors.InputError, match="has no classes"):
        bf.Explainer(model, data=X).explain(X.iloc[[0]], target=1)


def test_catboost_gets_the_frame_that_it_was_fitted_on():
    catboost = pytest.importorskip("catboost")
    table = X.assign(town=np.where(X["c"] > 0, "a", "b"))
    model = catboost.CatBoostClassifier(**QUIET, cat_features=["town"]).fit(table, BAD)
    seen, own = set(), model.predict

    def predict(rows, *args, **options):
        seen.add(type(rows))
        return own(rows, *args, **options)

    model.predict = predict
    assert bf.Explainer(model, data=table).explain(table[BAD == 0].iloc[[0]], target=1).certificate.status.found
    assert seen == {pd.DataFrame}


@pytest.mark.parametrize("ending", [".json", ".ubj"])
@pytest.mark.parametrize("kind", ["XGBClassifier", "XGBRegressor"])
def test_xgboost_in_a_file_is_what_wrote_it(ending, kind, file):
    xgboost = pytest.importorskip("xgboost")
    model = getattr(xgboost, kind)(n_estimators=30, early_stopping_rounds=3, max_depth=2)
    labels = BAD if kind == "XGBClassifier" else X["a"]
    model.fit(X[:200], labels[:200], eval_set=[(X[200:], labels[200:])], verbose=False)
    model.save_model(file(ending))
    row, target = X[BAD == 0].iloc[[0]], 1 if kind == "XGBClassifier" else bf.relative_change(0.2)
    same_answers(model, file(ending), row, target)


def test_boosters_and_their_files(file):
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    row = X[BAD == 0].iloc[[0]]
    booster = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, BAD), 5)
    booster.save_model(file(".ubj"))
    same_answers(booster, file(".ubj"), row, 1)
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(X, BAD), 5)
    booster.save_model(file(".txt"))
    same_answers(booster, file(".txt"), row, 1)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_network_in_a_file(file):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnx")

    def export(module):
        rows = ({0: torch.export.Dim("rows")},)
        torch.onnx.export(
            module.eval(), (torch.zeros(2, 3),), file(".onnx"), dynamic_shapes=rows, verbose=False, external_data=False
        )

    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    export(module)
    explainer = bf.Explainer(file(".onnx"), data=X.to_numpy())
    value = float(explainer.reading.source.values(X.to_numpy()[:1])[0])
    answer = explainer.explain(X.to_numpy()[:1], target=bf.value(at_least=value + 0.01))
    assert answer.certificate.solver.startswith("network_exact")
    assert answer.after >= value + 0.01
    export(torch.nn.Sequential(module, torch.nn.Sigmoid()))
    refused(file(".onnx"), f"Write bf.onnx_model({file('.onnx')!r}, classes=[...]).", data=X.to_numpy())


def test_a_torch_module_is_refused_with_what_to_write():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid()).eval()
    refused(
        module, "PyTorch module Sequential", "bf.torch_model(module, classes=[...])", error=bf.errors.InputTypeError
    )


@pytest.mark.parametrize(
    ("ending", "written"),
    [
        (".joblib", "joblib.load('"),
        (".pkl", "pickle.load(open('"),
        (".pickle", "pickle.load(open('"),
        (".pt", "bf.torch_model(module, classes=[...])"),
        (".keras", "keras.models.load_model('"),
    ],
)
def test_a_file_that_may_run_code_is_not_loaded(ending, written, file):
    class Bomb:
        def __reduce__(self):
            return exec, ("raise SystemExit('it was loaded')",)

    joblib.dump(Bomb(), file(ending))
    refused(file(ending), "may run code", written, error=bf.errors.InputTypeError)


def test_other_files_are_refused(file, tmp_path):
    refused(
        file(".csv"),
        "a file that ends in .cbm, .json, .ubj, .txt, .onnx, .skops, .pmml, .tl is needed",
        error=bf.errors.InputTypeError,
    )
    with pytest.raises(FileNotFoundError):
        bf.Explainer(tmp_path / "none.cbm", data=X)
    for ending, held in (
        (".txt", "hello\n"),
        (".json", "[]"),
        (".json", "{"),
        (".cbm", "x"),
        (".ubj", "x"),
        (".onnx", "x"),
    ):
        with open(file(ending), "w") as broken:
            broken.write(held)
        refused(file(ending))


def test_the_command_reads_such_files(file, tmp_path):
    catboost = pytest.importorskip("catboost")
    catboost.CatBoostClassifier(**QUIET).fit(X, WORDS).save_model(file(".cbm"))
    X.to_csv(tmp_path / "rows.csv", index=False)
    joblib.dump(LogisticRegression().fit(X, BAD), file(".joblib"))
    for model in (file(".cbm"), file(".joblib")):
        done = CliRunner().invoke(app, ["explain", model, str(tmp_path / "rows.csv"), "--row", "3"])
        assert done.exit_code == 0, done.output
        assert "proven optimal" in done.output
