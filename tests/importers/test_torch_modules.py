"""PyTorch modules: every operator that is read says what the module says, and everything else is refused by name."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import butfor as bf
from butfor.errors import FidelityError, InputError, InputTypeError, NotFittedError
from butfor.estimator.torch_modules import TorchClassifier
from butfor.importers.libraries.torch_modules import TORCH_OPERATORS
from butfor.importers.read import read
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.questions import evaluate
from butfor.model.readout import PROBABILITY_STEPS
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import KINDS, people

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install butfor[torch]")
nn, F = torch.nn, torch.nn.functional

WIDTH = 4
TWO, THREE = ["no", "yes"], ["a", "b", "c"]


class Written(nn.Module):
    """A module of which the test writes `forward(self, x)`. Its parts are random, its norm has seen other data."""

    def __init__(self, forward: Callable[..., Any], out: int = 1) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, out)
        self.d = nn.Linear(2 * WIDTH, WIDTH)
        self.norm, self.w, self.written = nn.BatchNorm1d(WIDTH), nn.Parameter(torch.rand(WIDTH) + 0.5), forward
        self.norm.running_mean += torch.randn(WIDTH)
        self.norm.running_var += torch.rand(WIDTH)

    def forward(self, x: Any) -> Any:
        return self.written(self, x)


def seeded(make: Callable[[], Any]) -> Any:
    torch.manual_seed(0)
    return make().eval()


def layers(out: int, *end: Any) -> Any:
    return nn.Sequential(nn.Linear(WIDTH, 5), nn.ReLU(), nn.Linear(5, out), *end)


def rows(count: int = 120) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, WIDTH))


def returned(module: Any) -> np.ndarray:
    with torch.inference_mode():
        return module(torch.from_numpy(rows())).numpy().ravel()


ENDS: dict[str, tuple[Callable[[], Any], list[str] | None]] = {
    "one score": (lambda: layers(1), TWO),
    "one score without its axis": (lambda: layers(1, nn.Flatten(0)), TWO),
    "two scores": (lambda: layers(2), TWO),
    "three scores": (lambda: layers(3), THREE),
    "sigmoid": (lambda: layers(1, nn.Sigmoid()), TWO),
    "two of softmax": (lambda: layers(2, nn.Softmax(1)), TWO),
    "softmax": (lambda: layers(3, nn.Softmax(dim=-1)), THREE),
    "log softmax": (lambda: layers(3, nn.LogSoftmax(1)), THREE),
    "a value": (lambda: layers(1), None),
    "no hidden layer": (lambda: nn.Linear(WIDTH, 1), TWO),
    "no bent unit": (lambda: nn.Sequential(nn.Linear(WIDTH, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)), TWO),
}

OPERATORS: dict[str, Callable[..., Any]] = {
    "relu": lambda m, x: m.c(torch.relu(m.a(x))),
    "relu function": lambda m, x: m.c(F.relu(m.a(x))),
    "relu method": lambda m, x: m.c(m.a(x).relu()),
    "leaky relu": lambda m, x: m.c(F.leaky_relu(m.a(x), 0.3)),
    "leaky relu as it is": lambda m, x: m.c(F.leaky_relu(m.a(x))),
    "norm": lambda m, x: m.c(torch.relu(m.norm(m.a(x)))),
    "norm first": lambda m, x: m.c(torch.relu(m.a(m.norm(x)))),
    "dropout": lambda m, x: m.c(F.dropout(torch.relu(m.a(x)), 0.5, training=m.training)),
    "flatten": lambda m, x: m.c(torch.relu(m.a(torch.flatten(x, 1)))),
    "view": lambda m, x: m.c(torch.relu(m.a(x.view(x.size(0), -1)))),
    "reshape": lambda m, x: m.c(torch.relu(m.a(x.reshape(x.shape[0], WIDTH)))).reshape(-1),
    "squeeze": lambda m, x: m.c(torch.relu(m.a(x))).squeeze(-1),
    "residual": lambda m, x: m.c(x + torch.relu(m.a(x))),
    "residual of residuals": lambda m, x: m.c(x + torch.relu(m.b(h := x + torch.relu(m.a(x)))) + h),
    "before and after": lambda m, x: m.c((z := m.a(x)) + torch.relu(z)),
    "constants": lambda m, x: m.c(torch.relu(2.0 * m.a(x) * m.w - 1 + m.w) / 3),
    "from one": lambda m, x: m.c(1 - torch.relu(-m.a(x))),
    "sub": lambda m, x: m.c(torch.sub(torch.relu(m.a(x)), x, alpha=0.5)),
    "cat": lambda m, x: m.c(torch.relu(m.d(torch.cat([torch.relu(m.a(x)), x], dim=1)))),
    "float": lambda m, x: m.c(torch.relu(m.a(x.float()))),
    "the same layer twice": lambda m, x: m.c(torch.relu(m.a(torch.relu(m.a(x))))),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_every_end_is_read(name) -> None:
    make, classes = ENDS[name]
    reading = check_importer(bf.torch_model(seeded(make), classes=classes), rows())
    assert reading.unit == UNIT_SINGLE
    assert isinstance(reading.model, Linear) == (name == "no hidden layer")


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_read_exactly(name) -> None:
    """The module in float64 is the reference: it and the model differ in nothing but the last digits."""
    module = seeded(lambda: Written(OPERATORS[name]))
    reading = check_importer(bf.torch_model(module, classes=TWO), rows())
    assert reading.unit == UNIT_SINGLE
    exact = copy.deepcopy(module).double()
    if name == "leaky relu":  # a module of float32 takes its slope in float32
        exact.written = lambda m, x: m.c(F.leaky_relu(m.a(x), float(np.float32(0.3))))
    if name == "float":
        exact.written = OPERATORS["relu"]
    assert evaluate(reading.model, rows())[:, 0] == pytest.approx(returned(exact), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", sorted(OPERATORS.keys() - {"float"}))
def test_modules_of_float64_are_read_as_such(name) -> None:
    module = seeded(lambda: Written(OPERATORS[name])).double()
    reading = check_importer(bf.torch_model(module), rows())
    assert reading.unit == UNIT_DOUBLE
    assert evaluate(reading.model, rows())[:, 0] == pytest.approx(returned(module), rel=1e-12, abs=1e-12)


class Doubled(TorchClassifier):
    """Returns float64, although it computes in float32."""

    def predict_proba(self, X):
        return super().predict_proba(X).astype(np.float64)


def test_float32_counts_whatever_is_returned() -> None:
    model = bf.torch_model(seeded(lambda: layers(1)), classes=TWO)
    model.__class__ = Doubled
    reading = check_importer(model, rows())
    assert reading.source.precision(rows()) == np.float64
    assert reading.unit == reading.readout.unit == UNIT_SINGLE


@pytest.mark.parametrize("operator", ["batchnorm1d", "relu", "add"])
def test_a_wrong_operator_is_caught(operator, monkeypatch) -> None:
    model = bf.torch_model(
        seeded(lambda: Written(lambda m, x: m.c(x + torch.relu(m.norm(m.a(x)))))), classes=TWO
    )  # fmt: skip
    check_importer(model, rows())
    monkeypatch.setitem(TORCH_OPERATORS, operator, lambda to, input, *others, **settings: input)
    with pytest.raises(FidelityError, match="disagree"):
        check_importer(model, rows())


def test_a_preprocessor_is_folded() -> None:
    X = people(lost=("income",))[["age", "income", "job", "owns"]]
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    before = make_column_transformer((numbers, ["age", "income"]), (OneHotEncoder(), ["job"]), remainder="passthrough")
    before.fit(X)
    width = before.transform(X).shape[1]
    module = seeded(lambda: nn.Sequential(nn.Linear(width, 6), nn.ReLU(), nn.Linear(6, 1)))
    model = bf.torch_model(module, classes=TWO, before=before)
    reading = check_importer(model, X)
    assert [feature.missing for feature in reading.space] == [True, True, False, False]
    assert list(model.feature_names_in_) == list(X.columns)
    said = model.predict_proba(X)[:, 1]
    answer = bf.Explainer(model, X).explain(
        X.iloc[[said.argmin()]], target=bf.probability("yes", at_least=np.median(said))
    )
    assert answer.found
    assert model.predict_proba(answer.point)[0, 1] >= np.median(said)
    assert answer.certificate.bound <= answer.cost


def test_a_network_that_is_constant_has_no_answer() -> None:
    module = seeded(lambda: layers(1))
    with torch.no_grad():
        module[2].weight.zero_()
        module[2].bias.fill_(1.0)
    answer = bf.Explainer(bf.torch_model(module, classes=TWO), rows()).explain(rows()[:1], target="no")
    assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE


def test_the_module_is_left_as_it_was() -> None:
    module = seeded(lambda: Written(OPERATORS["norm"]))
    before, names = copy.deepcopy(module.state_dict()), sorted(vars(module))
    model = bf.torch_model(module, classes=TWO)
    bf.Explainer(model, rows()).explain(rows()[:2])
    assert all(torch.equal(weight, before[name]) for name, weight in module.state_dict().items())
    assert sorted(vars(module)) == names
    assert not module.training
    assert all(weight.grad is None for weight in module.parameters())


def test_fewer_digits_are_refused() -> None:
    model = bf.torch_model(seeded(lambda: layers(1)))
    wanted = model.predict(rows())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert np.array_equal(model.predict(rows()), wanted)
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(InputError, match=r"'medium' precision.*'highest'"):
            model.predict(rows())
    finally:
        torch.set_float32_matmul_precision("highest")


def test_threads_may_share_a_module() -> None:
    explainer = bf.Explainer(bf.torch_model(seeded(lambda: layers(1)), classes=TWO), rows())
    one, two = (explainer.explain(rows()[:4], n_jobs=jobs) for jobs in (1, 2))
    assert [answer.cost for answer in one] == [answer.cost for answer in two]


def test_columns_have_names_and_an_order() -> None:
    X = pd.DataFrame(rows(), columns=list("wxyz"))
    model = bf.torch_model(seeded(lambda: layers(2)), classes=[0, 1], columns=list("zyxw"))
    check_importer(model, X)
    assert model.n_features_in_ == WIDTH
    assert np.array_equal(model.predict(X), model.predict(X[list("zyxw")].to_numpy()))


@pytest.mark.parametrize("kind", ["pandas", "pandas nullable", "polars", "arrow"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "by position"])
def test_every_kind_of_table_is_read(kind, named) -> None:
    X = people()[["age", "income", "owns", "rooms"]]
    X["income"] /= 10_000
    table = KINDS[kind](X)
    model = bf.torch_model(seeded(lambda: layers(1)), classes=TWO, columns=list(X.columns) if named else None)
    check_importer(model, table)
    assert np.array_equal(model.predict(table), model.predict(X.to_numpy(dtype=float)))


def test_it_is_an_estimator_that_can_be_saved() -> None:
    model = bf.torch_model(seeded(lambda: layers(3, nn.Softmax(1))), classes=THREE)
    again = pickle.loads(pickle.dumps(model))
    chances = model.predict_proba(rows())
    assert chances.dtype == np.float32
    assert chances.sum(axis=1) == pytest.approx(1)
    assert np.array_equal(again.predict_proba(rows()), chances)
    assert model.predict(rows()).tolist() == np.array(THREE)[chances.argmax(axis=1)].tolist()


@pytest.mark.parametrize("width", [5, 30, 64])
def test_what_is_said_of_a_row_does_not_depend_on_the_others(width) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(width, 50), nn.ReLU(), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 1)).eval()
    model, rng = bf.torch_model(module), np.random.default_rng(0)
    X = rng.normal(size=(100, width))
    order = rng.permutation(100)
    together = model.predict(X)
    assert np.array_equal(model.predict(X[order]), together[order])
    assert np.array_equal(np.concatenate([model.predict(X[[i]]) for i in range(100)]), together)


def test_ends_round_no_more_than_a_probability_may() -> None:
    z = torch.linspace(-30, 30, 200_001)
    exact = expit(z.numpy().astype(np.float64))
    assert np.abs(torch.sigmoid(z).numpy() - exact).max() <= PROBABILITY_STEPS * UNIT_SINGLE
    several = torch.from_numpy(np.random.default_rng(0).normal(size=(50_000, 3)).astype(np.float32) * 5)
    exact = softmax(several.numpy().astype(np.float64), axis=1)
    for found in (torch.softmax(several, 1), torch.exp(torch.log_softmax(several, 1).double())):
        assert np.abs(found.numpy() - exact).max() <= PROBABILITY_STEPS * UNIT_SINGLE


class Branching(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.a(x), self.a(-x)


class TwoInputs(nn.Module):
    def forward(self, x, y):
        return x + y


def with_nan() -> Any:
    module = layers(1)
    with torch.no_grad():
        module[0].weight[0, 0] = float("nan")
    return module


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "control flow": (lambda: bf.torch_model(Branching().eval(), classes=TWO), TypeError, "cannot be traced.*no if"),
    "training": (lambda: bf.torch_model(layers(1).train()), ValueError, "training mode.*module.eval()"),
    "half precision": (lambda: bf.torch_model(layers(1).half().eval()), ValueError, "float16.*module.float()"),
    "two precisions": (
        lambda: bf.torch_model(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1).double()).eval()), ValueError, "alike",
    ),
    "NaN": (lambda: bf.torch_model(with_nan().eval()), ValueError, r"'0.weight' hold NaN"),
    "several heads": (lambda: bf.torch_model(TwoHeads().eval()), ValueError, "several heads.*one tensor"),
    "several inputs": (lambda: bf.torch_model(TwoInputs().eval()), ValueError, "several inputs"),
    "no module": (lambda: bf.torch_model(np.zeros(3)), TypeError, r"ndarray was given.*torch.nn.Module"),
    "a class": (lambda: bf.torch_model(nn.Linear), TypeError, r"Linear was given"),
    "too many classes": (lambda: bf.torch_model(layers(2).eval(), classes=THREE), ValueError, "returns 2 numbers.*3 classes"),
    "one class": (lambda: bf.torch_model(layers(2).eval(), classes=["a"]), ValueError, "Two or more"),
    "no classes": (lambda: bf.torch_model(layers(2).eval()), ValueError, "returns 2 numbers.*classes="),
    "no classes for a softmax": (
        lambda: bf.torch_model(layers(2, nn.Softmax(1)).eval()), ValueError, "ends in softmax, and no classes",
    ),
    "several sigmoids": (
        lambda: bf.torch_model(layers(2, nn.Sigmoid()).eval(), classes=TWO), ValueError, "labels of which each may hold",
    ),
    "three classes of a sigmoid": (
        lambda: bf.torch_model(layers(1, nn.Sigmoid()).eval(), classes=THREE), ValueError, "3 classes were given",
    ),
    "column names": (lambda: bf.torch_model(layers(1).eval(), columns=["a"]), ValueError, "reads 4 columns"),
    "preprocessor": (lambda: bf.torch_model(layers(1).eval(), before=StandardScaler), TypeError, "fitted preprocessor"),
    "unfitted preprocessor": (
        lambda: bf.torch_model(layers(1).eval(), before=StandardScaler()), NotFittedError, "StandardScaler is not fitted",
    ),
    "a single row": (lambda: bf.torch_model(layers(1).eval()).predict(np.zeros(WIDTH)), ValueError, "given as a table"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_clear_error(name) -> None:
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words) as raised:
        call()
    assert isinstance(raised.value, bf.ButforError)


def test_a_wrong_width_is_a_clear_error() -> None:
    X = rows()
    model = bf.torch_model(layers(1).eval(), before=StandardScaler().fit(X[:, :3]))
    with pytest.raises(InputError, match=r"fitted on 4 columns, and gets 3"):
        bf.Explainer(model, X[:, :3])
    with pytest.raises(InputError, match="has 3 columns"):
        bf.Explainer(bf.torch_model(layers(1).eval()), X[:, :3])


def test_text_and_gaps_that_reach_the_network_are_clear_errors() -> None:
    model = bf.torch_model(layers(1).eval(), columns=list("abcd"))
    X = pd.DataFrame(rows(5), columns=list("abcd"))
    with pytest.raises(InputTypeError, match=r"not a number.*before="):
        model.predict(X.assign(b="text"))
    with pytest.raises(InputError, match=r"missing value.*before="):
        model.predict(X.assign(b=np.nan))


def test_a_module_that_is_trained_on_is_refused() -> None:
    model = bf.torch_model(layers(1).eval())
    model.module.train()
    with pytest.raises(InputError, match="training mode"):
        model.predict(rows())


UNREAD: dict[str, tuple[Callable[..., Any], str]] = {
    "tanh": (lambda m, x: m.c(torch.tanh(m.a(x))), "the operator tanh of the network cannot be read"),
    "product": (lambda m, x: m.c(m.a(x) * m.b(x)), "two values of the network are multiplied"),
    "quotient": (lambda m, x: m.c(1 / (m.a(x) ** 2 + 1)), "the operator pow"),
    "steep": (lambda m, x: m.c(F.leaky_relu(m.a(x), 1.5)), "LeakyReLU has the slope 1.5"),
    "softmax inside": (lambda m, x: m.c(torch.softmax(m.a(x), 1)), "after the end"),
    "over rows": (lambda m, x: m.c(torch.softmax(m.a(x), 0)), r"softmax\(dim=0"),
    "mixed rows": (lambda m, x: m.c(m.a(x).reshape(-1, 2).reshape(-1, WIDTH)), r"reshapes its numbers to \(-1, 2\)"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_an_unknown_operator_is_named_and_the_swarm_searches(name) -> None:
    written, words = UNREAD[name]
    model = bf.torch_model(seeded(lambda: Written(written)), classes=TWO)
    assert re.search(words, why_unread(model, rows()))
    if name == "over rows":  # what it says of a row is no function of the row
        return
    answer = bf.Explainer(model, rows()).explain(rows()[:1], solver=bf.Swarm(calls=20))
    assert answer.certificate.status in (bf.Status.VALID, bf.Status.NOT_FOUND)


def test_dropout_that_stays_random_is_named() -> None:
    model = bf.torch_model(seeded(lambda: Written(lambda m, x: m.c(F.dropout(torch.relu(m.a(x)), 0.5)))), classes=TWO)
    assert "random also in eval mode" in why_unread(model, rows())


@pytest.mark.parametrize("deep", [False, True], ids=["wide", "deep"])
def test_a_thousand_neurons_are_read(deep) -> None:
    torch.manual_seed(0)
    widths = [100, *([100] * 10 if deep else [500, 500])]
    hidden = [
        part for wide, more in pairwise(widths) for part in (nn.Linear(wide, more), nn.BatchNorm1d(more), nn.ReLU())
    ]
    model = bf.torch_model(nn.Sequential(*hidden, nn.Linear(widths[-1], 2)).eval(), classes=TWO)
    X = np.random.default_rng(0).normal(size=(500, 100))
    network = read(model, X).model
    assert isinstance(network, Network)
    assert [len(layer.leak) for layer in network.layers] == widths[1:]
