"""What rounding may change in a network: every sum of the estimator counts, also those that the model has put into one."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.importers.fold.column import Column
from butfor.importers.fold.sums import Tape
from butfor.model.network import Network, evaluate_network
from butfor.model.questions import evaluate, widen
from butfor.model.rounding import Extent, rounding
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from tests.shorter import first

ONE = np.ones((1, 1))
WIDTH = 4


def extent(low, high):
    many = np.zeros(len(low))
    return Extent(low[None], low, high, many, many, np.ones(len(low), dtype=bool))


def columns(count=WIDTH):
    return [Column(j) for j in range(count)]


class Single:
    """Writes a network onto a tape, and computes the same in float32, one operation after the other."""

    def __init__(self, X):
        self.tape, self.x = Tape(X.shape[1]), X.astype(np.float32)
        self.sums = self.tape.inputs

    def mixed(self, weight, intercept):
        weight, intercept = weight.astype(np.float32), intercept.astype(np.float32)
        self.sums = self.tape.mixed(self.sums, weight, intercept)
        self.x = self.x @ weight.T + intercept
        return self

    def scaled(self, factor, shift):
        factor, shift = factor.astype(np.float32), shift.astype(np.float32)
        self.sums, self.x = self.tape.scaled(self.sums, factor, shift), self.x * factor + shift
        return self

    def bent(self, leak=0.0):
        self.sums = self.tape.bent(self.sums, float(np.float32(leak)))
        self.x = np.maximum(self.x, np.float32(leak) * self.x)
        return self

    def added(self, other):
        sums, x = other
        self.sums, self.x = self.tape.added(self.sums, sums), self.x + x
        return self

    @property
    def now(self):
        return self.sums, self.x

    def model(self):
        return self.tape.model(self.sums, columns(self.tape.inputs.width), UNIT_SINGLE)


def network(rng, X, kind):
    """A random network; the kinds differ in where large numbers cancel each other."""
    size = 10.0 ** rng.integers(0, 3)
    made = Single(X).mixed(size * rng.normal(size=(6, X.shape[1])), size * rng.normal(size=6))
    if kind == "norm":
        far = 1000 * rng.normal(size=6)
        made = made.scaled(np.ones(6), far).scaled(rng.random(6) + 0.5, -far).bent()
    elif kind == "straight":
        made = made.mixed(rng.normal(size=(6, 6)), rng.normal(size=6))
    elif kind == "residual":
        before = made.now
        made = made.bent(0.1).mixed(rng.normal(size=(6, 6)), rng.normal(size=6)).added(before).bent()
    elif kind == "opposed":  # two layers that undo each other
        back = np.linalg.inv(rng.normal(size=(6, 6)))
        made = made.mixed(np.linalg.inv(back), np.zeros(6)).mixed(back, np.zeros(6)).bent()
    else:
        made = made.bent().mixed(rng.normal(size=(5, 6)), rng.normal(size=5)).bent(0.3)
    return made.mixed(rng.normal(size=(1, len(made.sums.constant))), rng.normal(size=1))


@pytest.mark.parametrize("kind", ["plain", "norm", "straight", "residual", "opposed"])
@pytest.mark.parametrize("seed", first(3, range(10)))
def test_a_network_of_float32_is_off_by_less_than_the_doubt(seed, kind) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, WIDTH)) * 10.0 ** rng.integers(-2, 5)
    made = network(rng, X, kind)
    model = made.model()
    assert isinstance(model, Network)
    doubt = rounding(model, ONE, extent(X.min(axis=0), X.max(axis=0)), UNIT_DOUBLE)[0]
    off = np.abs(evaluate(model, X)[:, 0] - made.x[:, 0]).max()
    assert off <= doubt
    assert doubt < 1e6 * max(off, np.abs(made.x).max() * UNIT_SINGLE)


def test_sums_that_cancel_each_other_are_counted_where_they_are_large() -> None:
    """The model puts the shift and its opposite into one. The estimator has lost digits between them."""
    X = np.random.default_rng(0).normal(size=(50, WIDTH))
    box = extent(X.min(axis=0), X.max(axis=0))

    def doubt(far):
        made = Single(X).mixed(np.eye(WIDTH), np.full(WIDTH, far)).scaled(np.ones(WIDTH), np.full(WIDTH, -far)).bent()
        made = made.mixed(np.ones((1, WIDTH)), np.zeros(1))
        return rounding(made.model(), ONE, box, UNIT_SINGLE)[0], np.abs(
            evaluate(made.model(), X)[:, 0] - made.x[:, 0]
        ).max()

    (near, _), (far, off) = doubt(0.0), doubt(1e5)
    assert near < off <= far


def test_one_sum_of_large_terms_is_counted_by_their_sizes() -> None:
    """Without hidden units the model is linear: years around 2000 cancel the intercept in float32."""
    rng = np.random.default_rng(0)
    X = 2000 + rng.integers(-3, 4, size=(300, WIDTH)).astype(np.float64)
    made = Single(X).mixed(rng.normal(size=(1, WIDTH)), np.zeros(1))
    middle = [Column(j, centre=2000.0) for j in range(WIDTH)]
    model = made.tape.model(made.sums, middle, UNIT_SINGLE)
    box = extent(X.min(axis=0), X.max(axis=0))
    off = np.abs(evaluate(model, X)[:, 0] - made.x[:, 0]).max()
    assert 0 < off <= rounding(model, ONE, box, UNIT_SINGLE)[0]


def test_the_doubt_shrinks_with_the_box() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, WIDTH))
    model = network(rng, X, "plain").model()
    low, high = X.min(axis=0), X.max(axis=0)
    whole = rounding(model, ONE, extent(low, high), UNIT_SINGLE)[0]
    part = rounding(model, ONE, extent(X[0] - 0.01, X[0] + 0.01), UNIT_SINGLE)[0]
    assert 0 < part < whole


def test_float32_counts_whatever_the_scores_are_returned_in() -> None:
    """A wrapper may return float64: the network knows in what it computes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, WIDTH))
    model, box = network(rng, X, "plain").model(), extent(X.min(axis=0), X.max(axis=0))
    assert model.unit == UNIT_SINGLE
    assert rounding(model, ONE, box, UNIT_DOUBLE) == rounding(model, ONE, box, UNIT_SINGLE)


@pytest.mark.parametrize("kind", ["plain", "norm", "straight", "residual", "opposed"])
def test_the_layers_of_the_model_and_of_the_estimator_say_the_same(kind) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, WIDTH))
    model = network(rng, X, kind).model()
    written_out = Network(model.computed.columns, model.computed.layers)
    assert evaluate_network(written_out, X) == pytest.approx(evaluate_network(model, X), rel=1e-9, abs=1e-9)
    if kind in ("norm", "opposed"):
        assert len(model.layers) < len(model.computed.layers) - 1
        assert all((layer.leak != 1).any() for layer in model.layers)


def test_columns_that_the_network_does_not_read_are_there_for_its_rounding_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, WIDTH))
    wide = widen(network(rng, X, "plain").model(), (0,) * (WIDTH + 2))
    more = np.hstack([X, X[:, :2]])
    assert rounding(wide, ONE, extent(more.min(axis=0), more.max(axis=0)), UNIT_SINGLE)[0] > 0
