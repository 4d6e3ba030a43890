"""Checks a proof that no cheaper change makes a model answer differently. Python 3.8 or newer, and nothing else.

    python butfor_check.py PROOF_OR_FOLDER...

A proof names its question, and that the model's file. Both lie beside it. The page `proof-format.md` says what they hold.
Every number here is exact: a whole number or a fraction. What is rounded, is rounded so that the claim gets harder.

Three ideas carry it. A *cell* is a set of values of a column that no tree tells apart. A *box* is a set of cells for each
column, as the bits of a whole number. A *block* is a set of cells that one tree does not tell apart. A *message* of a block,
a number of at least 0, is paid by its tree and saved by its column. Whatever the messages are, no row of a box that reaches
the goal costs less than

    rate x goal + the sum over columns of (price - messages) in their cheapest cell
                + the sum over trees of (messages - rate x score) of their cheapest leaf.

For take such a row. It is in one cell of each column and one leaf of each tree. Its messages cancel out, or were paid by no
leaf, and rate x (goal - score) is not above 0. So the sum for this row is at most its cost, and the minima are no larger.
"""

import hashlib
import json
import os
import re
import struct
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, namedtuple
from copy import copy
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction as F
from functools import lru_cache, reduce
from itertools import combinations, product
from math import gcd, isqrt, log, sqrt
from operator import ge, gt, lt, mul

LARGEST_FILE = 1 << 30
FINE = 40  # costs are counted in units of the claim's power of two over 2^FINE, scores likewise of the largest leaf's
SHARE = 1 << FINE  # so many units is a share of 1
GRAIN = F(1, 1 << 20)  # logits of weighted features are looked at in this unit
NEAR = F(1, 1 << 60)  # what reaches the units of a network is looked at in this unit
FINEST = F(1, 1 << 200)  # forms are looked at in this unit, after the numbers of their diagonals were scaled to 1 to 4
BIG = 1 << 200  # every number of a step is smaller
INF = float("inf")
CURVED = "mean", "stack"  # what is made of curves of sums


class Wrong(Exception):
    """The first thing that is not true."""


def told(error):
    """What an error says: what is not true, or that this is no proof at all."""
    return str(error) if type(error) is Wrong else f"no proof, or a file is not there ({type(error).__name__}: {error})"


def need(fact, *why):
    if not fact:
        raise Wrong(" ".join(map(str, why)))


def shown(x):
    return repr(x)[:160]


# ------------------------------------------------------------------------------------------------------------- numbers


def digits(x):
    """A number in so many digits that float64 tells it from all others: nothing that is asked or claimed is rounded."""
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def roughly(x, count=6):
    return format(float(x), f".{count}g")


def at_most(x):
    """Two digits of a number, rounded up."""
    return format(Decimal(float(x)).normalize(Context(prec=2, rounding=ROUND_CEILING)), "g")


def written_whole(text):
    need(len(text) < 400, "a number of", len(text), "digits")
    return int(text)


def written_decimal(text):
    mantissa, _, power = text.lower().partition("e")
    need(len(text) < 60 and abs(int(power or 0)) < 400, "a number out of all bounds:", shown(text))
    return F(Decimal(text)) if power else F(mantissa)


def unique(pairs):
    found = dict(pairs)
    need(len(found) == len(pairs), "a key is there twice")
    return found


def parsed(text):
    """What a JSON text in UTF-8 says; its decimals are fractions. "NaN" and "Infinity" are no whole numbers, and refused."""
    text = text.decode("utf-8") if type(text) is bytes else text
    numbers = {"parse_int": written_whole, "parse_float": written_decimal, "parse_constant": written_whole}
    return json.loads(text, object_pairs_hook=unique, **numbers)


def whole(x, low, high, what):
    need(type(x) is int and low <= x < high, what, "is no whole number from", low, "to below", high, ":", shown(x))
    return x


def real(x, what):
    """A number that is written as a hexadecimal float, or a whole number."""
    if type(x) is int and abs(x) < 1 << 53:
        return F(x)
    need(type(x) is str and len(x) < 40 and x.lstrip("-")[:2] == "0x", what, "is no hexadecimal number:", shown(x))
    value = float.fromhex(x)
    need(abs(value) < 1e300, what, "is not finite:", x)
    return F(value)


def perhaps(x, what):
    """A number, or None."""
    return None if x is None else real(x, what)


def fraction(text):
    """A number that is written as a fraction, or as a whole number."""
    need(re.fullmatch("-?[0-9]+(/[0-9]+)?", text), "no fraction:", shown(text))
    return F(*map(written_whole, text.split("/")))


def single(x):
    """The nearest number that float32 holds."""
    near = float(x)
    bits = struct.unpack("<q", struct.pack("<d", near))[0]
    if bits & 0x1FFFFFFF == 0x10000000 and F(near) != x:  # as near to two of them; which is nearer, `x` itself says
        near = struct.unpack("<d", struct.pack("<q", bits + (1 if (F(near) < x) == (near > 0) else -1)))[0]
    need(abs(near) < 2.0**128 - 2.0**103, "a number that float32 does not hold:", near)
    return F(struct.unpack("<f", struct.pack("<f", near))[0])


def next_single(x, by):
    """The float32 above (1) or below (-1) a float32."""
    bits = struct.unpack("<i", struct.pack("<f", float(x)))[0]
    order = (bits if bits >= 0 else -(bits & 0x7FFFFFFF)) + by
    if abs(order) == 0x7F800000:  # beyond the largest one there is none; what lies halfway to here is read as that
        return F(2) ** 128 * by
    return F(struct.unpack("<f", struct.pack("<I", order if order >= 0 else -order | 0x80000000))[0])


def single_below(x):
    """The largest float32 that is not above a number."""
    near = single(min(x, F(2) ** 128 - F(2) ** 104))  # beyond the largest one there is none
    return near if near <= x else next_single(near, -1)


def logit(p):
    """An interval around log(p / (1 - p))."""
    odds, sixty = p / (1 - p), Context(prec=60)
    x = F(sixty.ln(sixty.divide(Decimal(odds.numerator), Decimal(odds.denominator))))
    return x - (abs(x) + 1) / 10**40, x + (abs(x) + 1) / 10**40


def share(x):
    """An interval around 1 / (1 + exp(-x))."""
    sixty, near = Context(prec=60), min(max(x, F(-1000)), F(1000))
    y = 1 / (1 + F(sixty.exp(sixty.divide(Decimal(-near.numerator), Decimal(near.denominator)))))
    return y - F(1, 10**40), y + F(1, 10**40)


def power_below(x):
    """The largest power of two that is not above a positive fraction."""
    power = x.numerator.bit_length() - x.denominator.bit_length()
    return F(2) ** power if F(2) ** power <= x else F(2) ** (power - 1)


def up(x, unit=F(1)):
    """How many units a fraction is, rounded up."""
    return -(-x.numerator * unit.denominator // (x.denominator * unit.numerator))


def rounded(share):
    """By which share of its terms' sizes a sum of n terms may be off, for n u (Higham, Accuracy and Stability, section 4.2)."""
    need(share < 1, "a sum of more terms than its digits tell apart")
    return share / (1 - share)


def in_whole_numbers(numbers):
    """Fractions as whole numbers, and what these are over."""
    scale = reduce(lambda one, x: one * x.denominator // gcd(one, x.denominator), numbers, 1)
    return [x.numerator * (scale // x.denominator) for x in numbers], scale


@lru_cache(1 << 18)
def runs(bits):
    """The runs of ones: [first, end)."""
    return [run.span() for run in re.finditer("1+", bin(bits)[:1:-1])]


# -------------------------------------------------------------------------------------------------------------- models


def highest(worth, rate, low, high, grain):
    """The most that worth x share(x) - rate x is for x, in grains, between two ends, or more.

    Below 0, a share is convex, so one of the ends is the highest. Above, it is concave, so it lies below each tangent.
    """

    def at(x):
        return worth * share(x * grain)[1] - rate * x

    start, slope = max(low, 0), float(rate / (worth * grain)) if worth else INF
    found = [at(low), at(min(high, 0))] if low < 0 or high == 0 else []
    if high > 0:
        p = (1 + sqrt(max(1 - 4 * slope, 0))) / 2
        x = min(max(int(log(p * p / slope) / grain), start), high) if 0 < slope < 1 / 4 else start if slope else high
        bottom, top = share(x * grain)
        least, most = (worth * grain * p * (1 - p) - rate for p in (top, max(bottom, F(1, 2))))
        found.append(at(x) + max(most * (high - x), -least * (x - start), 0))
    return max(found)


class Logistic:
    """The share of a sum, as what a curve makes of it: between which ends it lies, and how far it is above a line."""

    ends, highest = staticmethod(share), staticmethod(highest)

    @classmethod
    def other(cls):
        return cls


class Knots(namedtuple("Knots", "x y off")):
    """Lines between knots, which never fall, and are level outside of them, as what a curve makes of a sum.

    off: by how much the estimator's may differ
    """

    def ends(self, x):
        k = bisect_left(self.x, x)
        y = self.y[min(k, len(self.y) - 1)]
        if 0 < k < len(self.x):
            y -= (y - self.y[k - 1]) * (self.x[k] - x) / (self.x[k] - self.x[k - 1])
        return y - self.off, y + self.off

    def highest(self, worth, rate, low, high, grain):
        """As of a share. The highest x is one of both ends, or a knot between them."""
        between = slice(bisect_right(self.x, low * grain), bisect_left(self.x, high * grain))
        each = [(x * grain, self.ends(x * grain)[1]) for x in (low, high)]
        each += [(x, y + self.off) for x, y in zip(self.x[between], self.y[between])]
        return max(worth * y - rate * x / grain for x, y in each)

    def other(self):
        return Knots([-x for x in self.x[::-1]], [1 - y for y in self.y[::-1]], self.off)


class Curve(namedtuple("Curve", "weight straight bend turned by")):
    """What a sum x adds to a mean: weight times share(x), or x itself if it is straight.

    bend: slope, shift, off. Then it is share(slope share(x) + shift), and the line inside may be off by so much
    turned: whether it is what the other class gets, as a function of -x
    by: Logistic, or the Knots that stand in place of the share outside
    """

    def other(self):
        slope, shift, off = self.bend or (F(0), F(0), F(0))
        return self._replace(turned=not self.turned, bend=self.bend and (slope, -slope - shift, off), by=self.by.other())

    def line(self, x):
        """The line inside, at least and at most."""
        (slope, shift, off), (low, high) = self.bend, share(x)
        return slope * low + shift - off, slope * high + shift + off

    def ends(self, x):
        """What it adds at least and at most."""
        least, most = self.line(x) if self.bend else (x, x)
        ends = (x + self.turned,) * 2 if self.straight else (self.by.ends(least)[0], self.by.ends(most)[1])
        return [self.weight * end for end in ends]

    def above(self, worth, rate, inner, low, high, grain):
        """The most that worth x what it adds - rate x is for x, in grains, between two ends, or more.

        inner: what a unit of the line inside is worth. At any worth, what both lines are below adds up to what it is below.
        """
        worth *= self.weight
        if self.straight:
            return max(worth * (x * grain + self.turned) - rate * x for x in (low, high))
        if not self.bend:
            return self.by.highest(worth, rate, low, high, grain)
        slope, shift, off = self.bend
        ends = self.line(low * grain)[0] / GRAIN, self.line(high * grain)[1] / GRAIN
        outside = self.by.highest(worth, inner * GRAIN, *ends, GRAIN)
        return outside + inner * (shift + off) + highest(inner * slope, rate, low, high, grain)


def knots_of(told):
    """The lines between knots that a file tells of."""
    need(told["knots"] and all(len(knot) == 2 for knot in told["knots"]), "no knots, or one that is no pair")
    x, y = zip(*[[real(number, "a knot") for number in knot] for knot in told["knots"]])
    off = real(told["off"], "the doubt of knots")
    need(off >= 0 and not any(map(ge, x, x[1:])) and not any(map(gt, y, y[1:])), "knots that fall, or whose doubt is below 0")
    return Knots(x, y, off)


def power(x):
    """An interval around exp(x), or around exp(1000) if x is larger."""
    sixty, near = Context(prec=60), min(max(x, F(-1000)), F(1000))
    y = F(sixty.exp(sixty.divide(Decimal(near.numerator), Decimal(near.denominator))))
    return y * (1 - F(1, 10**40)) * (x >= -1000), y * (1 + F(1, 10**40))


class Power(namedtuple("Power", "scale way")):
    """What the odds of a rival add, as a function of a sum x: scale exp(x), but at most 2 (way: 1), or -scale exp(-x) (-1)."""

    weight, straight, bend, turned = 1, False, (), False

    def ends(self, x):
        """What it adds at least and at most."""
        low, high = (self.scale * y for y in power(self.way * x))
        return [min(low, F(2)), min(high, F(2))] if self.way > 0 else [-high, -low]

    def above(self, worth, rate, inner, low, high, grain):
        """The most that worth x what it adds - rate x is for x, in grains, between two ends, or more.

        Up to 2 it is convex, so one of the ends is the highest, and from there on the first x. Below 0 it is concave, so it lies
        below each tangent.
        """

        def at(x):
            return worth * self.ends(x * grain)[1] - rate * x

        steep = worth * self.scale * grain
        if self.way > 0:
            place = log(2 / self.scale) / float(grain)
            turn = min(max(F(place - abs(place) / 10**12 - 1), low), high)  # not above it, however logarithms are rounded
            return max(at(low), at(turn), worth * 2 - rate * turn) if turn < high else max(at(low), at(high))
        x = min(max(-int(log(rate / steep) / float(grain)) if rate and steep else low, low), high)
        least, most = (steep * y - rate for y in power(-x * grain))
        return at(x) + max(most * (high - x), -least * (x - low), 0)


class Layer:
    """Sums of what units pass on: x if it is above 0, and leak times x below.

    bits: all its numbers are whole multiples of 2^-bits; rows, columns: the weights in this unit, of each sum and of each unit
    """

    def __init__(self, told):
        self.leak, self.base = ([real(x, "a number of a layer") for x in told[key]] for key in ("leak", "base"))
        self.weight = [[real(x, "a weight of a layer") for x in row] for row in told["weight"]]
        need(self.base and self.leak and all(0 <= x <= 1 for x in self.leak), "a unit that falls where it rises, or no unit")
        shape = len(self.weight) == len(self.base) and all(len(row) == len(self.leak) for row in self.weight)
        need(shape, "not a weight of each unit for each sum")
        self.bits = max(x.denominator for row in self.weight for x in row).bit_length() - 1
        self.rows = [[int(x * (1 << self.bits)) for x in row] for row in self.weight]
        self.columns = list(zip(*self.rows))

    def passed(self, sums):
        return [max(x, leak * x) for x, leak in zip(sums, self.leak)]

    def sums(self, passed):
        its, scale = in_whole_numbers(passed)
        return [b + F(sum(map(mul, row, its)), scale << self.bits) for b, row in zip(self.base, self.rows)]

    def passed_on(self, size, off, step):
        """How large its sums may be, and by how much off, if what reaches it is. The first one is 0, as ever."""
        each, (size, by), (off, over) = [list(map(abs, row)) for row in self.rows], *map(in_whole_numbers, (size, off))
        sizes = [abs(b) + F(sum(map(mul, row, size[1:])), by << self.bits) for b, row in zip(self.base, each)]
        own = [(sum(x > 0 for x in row) + 4) * step for row in each]
        passed = [F(sum(map(mul, row, off[1:])), over << self.bits) for row in each]
        more = [rounded(x) * its + before for x, its, before in zip(own, sizes, passed)]
        return [F(0), *map(sum, zip(sizes, more))], [F(0), *more]

    def above(self, low, high, way=1):
        """Lines above its sums, or what is opposite to them (-1), if what units pass on lies between lines. In units of NEAR."""
        found = []
        for base, row in zip(self.base, self.rows):
            row = [way * w for w in row]
            its = [b if w > 0 else a for w, a, b in zip(row, low, high)]
            found.append([-(-sum(map(mul, row, each)) >> self.bits) for each in zip(*its)])
            found[-1][0] += up(way * base, NEAR)
        return found

    def back(self, worth):
        """What a unit of what each unit passes on is worth, if a unit of each sum is worth so much."""
        its, scale = in_whole_numbers(worth)
        return [F(sum(map(mul, its, column)), scale << self.bits) for column in self.columns]


class Beside(Layer):
    """A layer beside itself, so many times."""

    def __init__(self, layer, copies):
        self.layer, self.copies, self.leak, self.base = layer, copies, layer.leak * copies, layer.base * copies

    def apart(self, *each):
        """What there is for each copy, of lists that hold it for all of them."""
        sizes = [len(its) // self.copies for its in each]
        return [[its[c * n : (c + 1) * n] for its, n in zip(each, sizes)] for c in range(self.copies)]

    def sums(self, passed):
        return [x for its in self.apart(passed) for x in self.layer.sums(*its)]

    def above(self, low, high, way=1):
        return [line for its in self.apart(low, high) for line in self.layer.above(*its, way)]

    def back(self, worth):
        return [x for its in self.apart(worth) for x in self.layer.back(*its)]


def in_step(told, *keys):
    """What lists of one length say of each thing."""
    lists = [told[key] for key in keys]
    need(len({*map(len, lists)}) == 1, "lists of several lengths:", *keys)
    return zip(*lists)


LIGHTGBM_KEYS = """num_leaves num_cat is_linear leaf_value split_feature decision_type left_child right_child threshold
    cat_boundaries cat_threshold split_gain leaf_weight leaf_count internal_value internal_weight internal_count shrinkage"""


def keyed(lines, keys, only=False):
    """What lines `key=value` of LightGBM say of some keys. only: whether no others may be there."""
    found, keys = {}, keys.split()
    for line in filter(None, lines):
        key, _, value = line.partition("=")
        need(re.fullmatch("[A-Za-z_]+", key) and (key in keys or not only), "a line that is not read:", shown(line))
        if key in keys:
            need(key not in found, "a key is there twice:", key)
            found[key] = value
    return found


def listed(text):
    """The numbers of a line of LightGBM: whole ones, or those that float64 holds."""
    need(re.fullmatch("[-+.e0-9 ]*", text), "a list of other things than numbers:", shown(text))
    return json.loads("[" + text.replace(" ", ",") + "]", parse_int=written_whole)


class Model:
    """Sums of trees, or of weighted features, in exact numbers, as the file of the model says them.

    base: where each sum begins. The first one is 0, and nothing is added to it: a sum is what it is more than that. If there
        is one sum besides, it speaks for class 1; if there are several, there is one for each class, in order.
    weights: what a unit of each feature adds to each sum; none if they are sums of trees
    layers: what a network makes of these sums; then `starts` is where they begin, and `base` where the last ones do
    trees: lists of nodes. A node (feature, cut, left, right, lost) sends values <= cut to the left, and one with a set of
        whole numbers in place of the cut those in the set. `lost` is whether it sends a missing value there, None if the model
        does not say. A leaf is one tuple: what it adds to each sum.
    splits: of each feature, the different (feature, cut, lost), as keys
    single: whether values are read as float32
    kind: "logistic" (the sum is the logit of class 1), "mean" (the probability of class 1 is the mean of what its `curves` make
        of the sums), "shares" (the means of leaves are probabilities, and the class with most is predicted), "largest" (the
        class of the largest sum is predicted), "value", "score" (class 1 is above 0), "votes" (each sum above 0 is a vote for
        class 1, and of equal counts, the first is predicted), "stack" (the logit of class 1 is what `curves` add up to), or
        "leaves" (sums are what a tree compares with 0: the leaf says the value, or the probability of each class)
    paths: the leaves of such a tree, with the pairs of sums of which the first is not below the second on the way
    ballots: how much each vote counts; end: what a stack adds to its curves, and what it may be off by besides
    over: what the sums are divided by
    at: how many sums of others come before; parts: each model whose sums these are, with what is its own. Most are alone
    slopes: of each feature that is weighed beside trees, what a unit adds to each sum; a missing value adds nothing
    sizes: of each tree, the largest leaf of each sum; doubts: by how much each sum of trees alone may be off
    step: a rounding of its numbers; fine (sums): of its additions; extra: what else each sum may be off by
    """

    def __init__(self, kind, data):
        self.trees, self.weights, self.layers, self.paths, self.curves, self.ballots = [], [], [], [], [], []
        self.slopes = {}
        self.over, self.plain, self.at, self.others = 1, False, 0, []
        need(kind in ("xgboost", "lightgbm", "catboost", "arrays", "linear"), "a model of an unknown kind:", shown(kind))
        getattr(self, "read_" + kind)(data)
        need(self.trees or self.weights, "the model has no trees and no weights")
        self.leaves = [[node[0] for node in nodes if len(node) == 1] for nodes in self.trees]
        self.splits = {node[0]: {} for nodes in self.trees for node in nodes if len(node) > 1}
        for node in (node for nodes in self.trees for node in nodes if len(node) > 1):
            self.splits[node[0]][(*node[:2], node[4])] = None
        self.sizes = [[max(map(abs, each)) for each in zip(*leaves)] for leaves in self.leaves]
        whole_votes = not self.slopes and all(sorted(leaf) == [0] * (len(leaf) - 1) + [1] for its in self.leaves for leaf in its)
        self.votes = self.kind == "shares" and whole_votes and not any(self.base + self.extra) and not self.others
        self.parts = [self.part(0, len(self.base) - 1 - sum(count for count, *_ in self.others))]
        for count, *about in self.others:
            self.parts.append(self.part(self.parts[-1].at + len(self.parts[-1].base) - 1, count, *about))
        self.doubts = self.doubted([])

    def part(self, at, count, *about):
        """One of several models, whose sums come after some. about: its kind, step, what its sums are divided by, its name."""
        its = copy(self)
        if about:
            its.kind, its.step, its.over, its.named = about
        its.at, its.base = at, [F(0), *self.base[at + 1 : at + 1 + count]]
        its.first = its.kind in ("largest", "shares")  # the sum of class 0
        need(its.kind in ("leaves", "votes", *CURVED) or (count > 1) == its.first, "another number of sums")
        its.classes = len(its.paths[0][1]) if its.paths else count if its.first else 2
        single = sum(any(its.own(each)) for each in self.sizes) < 2 and its.kind in ("shares", "value")
        added = [*its.base, *its.own(self.extra), *[x for each in self.slopes.values() for x in its.own(each)]]
        its.alone = self.plain and single and its.over == 1 and not any(added)  # then nothing is added up
        return its

    def own(self, each):
        """Of what there is for each sum, what there is for the own sums of a part, after that of the sum that is 0."""
        return [*each[:1], *each[1 + self.at : self.at + len(self.base)]]

    def doubted(self, more):
        """By how much each sum of trees, and of more terms of so much each (terms, sums), may be off in the estimator."""
        doubts = [self.rounding(*each) for each in enumerate(zip(*self.sizes, *more))]
        return [F(0)] + [F(0) if its.alone else x for its in self.parts for x in its.own(doubts)[1:]]

    def rounding(self, k, sizes):
        """By how much sum k of terms of these sizes may be off."""
        n = (len(self.weights) or sum(size != 0 for size in sizes)) + 4  # additions, and what is done to a term or to the sum
        return rounded(n * self.fine[k]) * (abs(self.starts[k]) + sum(sizes)) + self.spare[k]

    def passed_on(self, sizes, off):
        """By how much the last sums may be off, for first terms of these sizes, whose sums are off by so much themselves."""
        off = [self.rounding(k, its) + x for k, (its, x) in enumerate(zip(sizes, off))]
        size = [abs(start) + sum(its) + x for start, its, x in zip(self.starts, sizes, off)]
        if self.layers:  # they may be made float32 then
            off = [x + its * (self.step - fine) for x, its, fine in zip(off, size, self.fine)]
        for layer in self.layers:
            size, off = layer.passed_on(size, off, self.step)
        return [x + more for x, more in zip(off, self.extra)] if self.layers else off

    def sums(self, objective, kinds, single, digits, base, off=None, others=()):
        """What sums are made into, whether values are float32, how many digits sums have, where they begin, further doubts.

        others: what the last sums are, if they are those of other models
        """
        own = {"sum": objective, "sums": len(base) - sum(told["sums"] for told in others), "digits": digits, "over": 1}
        for told in [own, *others]:
            need(told["sum"] in kinds, "a sum that is not read:", shown(told["sum"]))
            whole(told["sums"], 1, 10**4, "the sums of a model"), whole(told["digits"], 24, 54, "the digits")
            whole(told["over"], 1, 10**6, "what sums are divided by")
        every = [(told["sums"], kinds[told["sum"]], F(1, 1 << told["digits"]), told["over"]) for told in [own, *others]]
        self.others = [(*its, shown(told["of"])) for its, told in zip(every[1:], others)]
        self.kind, self.single, self.step, self.base = kinds[objective], single, F(1, 1 << digits), [F(0), *base]
        off = [F(0)] * len(base) if off is None else [real(x, "a doubt") for x in off]
        need(len(off) == len(base) and min(off) >= 0, "not a doubt for each sum")
        steps = [(step, kind == "largest") for count, kind, step, _ in every for _ in range(count)]
        self.extra = [F(0)] + [x + 8 * step * softmax for x, (step, softmax) in zip(off, steps)]  # which makes near ones equal
        self.starts, self.spare, self.fine = self.base, self.extra, [F(0)] + [step for step, _ in steps]

    def bent(self, curves, end=None):
        """What a mean makes of each sum; if nothing is said, its share. end: what a stack adds, and by how much it may be off."""
        need(self.kind in CURVED or curves is None, "curves of sums that are no mean")
        need(self.kind not in CURVED or not self.others, "a mean beside other models")
        sums = (len(self.base) - 1) * (self.kind in CURVED)
        for told in [{"weight": 1}] * sums if curves is None else curves:
            straight, bend = told.get("straight", False), [real(x, "a bend") for x in told.get("bend", ())]
            weight = real(told["weight"], "a weight of a mean")
            fine = weight > 0 or (weight and self.kind == "stack")
            need(fine and type(straight) is bool and not (straight and bend), "a curve that is not read")
            need(not bend or (len(bend) == 3 and bend[0] >= 0 and bend[2] >= 0), "a bend that falls, or whose doubt is not said")
            need("knots" not in told or not straight, "knots of what is straight")
            self.curves.append(Curve(weight, straight, tuple(bend), False, knots_of(told) if "knots" in told else Logistic))
        need(len(self.curves) == sums, "not a curve for each sum")
        need((self.kind == "stack") == (end is not None), "a stack without an end, or an end without a stack")
        self.end = [real(x, "the end of a stack") for x in end or ()]
        need(len(self.end) == 2 * (self.kind == "stack") and min(self.end[1:], default=0) >= 0, "not an end and its doubt")

    def cast(self, ballots):
        """How much the vote of each sum counts."""
        self.ballots, sums = [real(x, "what a vote counts") for x in ballots], (len(self.base) - 1) * (self.kind == "votes")
        need(len(self.ballots) == sums < 13 and min(self.ballots, default=1) > 0, "not a vote for each sum, or too many")
        need(not self.others or not sums, "votes beside other models")

    def winning(self, way):
        """The smallest sets of voters who decide for class 1 (way: 1) or 0 (-1), however the others vote."""
        its, _ = in_whole_numbers(self.ballots)
        exact, total, found = sum(its) < reduce(gcd, its) << 53, sum(self.ballots), []  # then no order of additions rounds
        for voters in (its for size in range(len(self.ballots) + 1) for its in combinations(range(len(self.ballots)), size)):
            lead = 2 * sum(self.ballots[k] for k in voters) - total
            need(exact or abs(lead) * (1 << 40) > total, "votes that are equal within their rounding")
            if (lead > 0 or (lead == 0 and way < 0)) and not any(set(less) <= set(voters) for less in found):
                found.append(voters)
        return found

    def end_off(self):
        """By how much what a stack adds up may be off."""
        size = sum(abs(curve.weight) for curve in self.curves) + abs(self.end[0])
        return self.end[1] + (15 + len(self.curves)) * self.step * size

    def leaf(self, value, which):
        """A leaf that adds to the sum of one class."""
        whole(which, 0, len(self.base) - 1, "the class of a tree")
        return (tuple(value if k == 1 + which else F(0) for k in range(len(self.base))),)

    def add(self, nodes):
        """A tree. Children come after their one parent, so every walk ends, and no node is met twice."""
        need(nodes, "a tree without nodes")
        met = set()
        for at, node in enumerate(nodes):
            if len(node) > 1:
                whole(node[0], 0, 10**6, "a feature")
                need(node[4] in (None, 0, 1), "where a missing value goes is neither left nor right:", shown(node[4]))
                for child in node[2:4]:
                    need(whole(child, at + 1, len(nodes), f"a child of node {at}") not in met, "two ways lead to node", child)
                    met.add(child)
        self.trees.append(nodes)

    def read_xgboost(self, data):
        """XGBoost's own JSON: values, leaves and sums in float32; strictly below goes to the left."""
        learner = parsed(data)["learner"]
        about, several = learner["learner_model_param"], {"multi:softprob": "largest", "multi:softmax": "largest"}
        given, count = parsed(about["base_score"]), max(whole(parsed(about.get("num_class", "1")), 0, 10**4, "the classes"), 1)
        base = [single(F(x)) for x in (given if type(given) is list else [given] * count)]
        kinds = {"binary:logistic": "logistic", "reg:squarederror": "value", **several}
        self.sums(learner["objective"]["name"], kinds, True, 24, base)
        need(learner["gradient_booster"]["name"] == "gbtree", "no trees, or weighted ones")
        need("best_iteration" not in learner.get("attributes", {}), "training stopped early: not all trees may count")
        need(len(base) == count and parsed(about.get("num_target", "1")) in (0, 1), "more scores than classes")
        boosted = learner["gradient_booster"]["model"]
        need(all(weight == 1 for weight in boosted.get("weight_drop", ())), "trees with weights")
        count = len(boosted["trees"])
        need(len(boosted["tree_info"]) == count, "not every tree has a class")
        ends = boosted.get("iteration_indptr", [0, count])  # of iterations: XGBoost adds up the trees from the first to the last
        need(ends and ends[0] == 0 and ends[-1] == count and not any(map(gt, ends, ends[1:])), "not all trees count")
        for number, (tree, which) in enumerate(zip(boosted["trees"], boosted["tree_info"])):
            need(tree["id"] == number, "a tree in the place of another")
            need(parsed(tree["tree_param"]["size_leaf_vector"]) in (0, 1), "leaves of several numbers")
            starts = list(in_step(tree, "categories_nodes", "categories_segments", "categories_sizes"))
            sets, order = {node: frozenset(tree["categories"][a : a + n]) for node, a, n in starts}, [node for node, *_ in starts]
            need(not any(map(ge, order, order[1:])), "sets that are not in the order of their nodes")
            keys = "split_indices", "split_conditions", "left_children", "right_children", "split_type", "default_left"
            nodes = []
            for at, (feature, x, left, right, kind, lost) in enumerate(in_step(tree, *keys)):
                whole(lost, 0, 2, "where a missing value goes")
                need(whole(kind, 0, 2, "the kind of a split") == (at in sets), "a set that is missing, or of no split")
                if left == -1:
                    nodes.append(self.leaf(single(F(x)), which))
                elif kind:
                    nodes.append((feature, sets[at], right, left, not lost))  # the set goes to the right
                else:
                    nodes.append((feature, next_single(single(F(x)), -1), left, right, bool(lost)))
            self.add(nodes)
        if self.kind == "logistic":  # the logit is made in float32
            need(0 < base[0] < 1, "the base score is no probability")
            self.base[1], high = logit(base[0])
            self.extra[1] = high - self.base[1] + 4 * self.step * (abs(self.base[1]) + 1 + 1 / (1 - base[0]))

    def read_lightgbm(self, data):
        """LightGBM's own text: values and sums in float64; up to the threshold goes to the left.

        LightGBM reads a tree up to an empty line, finds the next one by the sizes in the head, and takes the last of equal keys.
        So no line may stand where it does not look, or be there twice.
        """
        text, end, _ = data.decode("utf-8").partition("\nend of trees\n")
        need(end and not {"\r", "\0"} & {*text}, "a text without an end, or with other ends of lines")
        head, *parts = text.split("\nTree=")
        said = keyed(head.split("\n"), "objective num_class num_tree_per_iteration tree_sizes average_output")
        (count,) = listed(said["num_class"])
        kinds = {"binary sigmoid:1": "logistic", "regression": "value", f"multiclass num_class:{count}": "largest"}
        self.sums(said["objective"], kinds, False, 53, [F(0)] * whole(count, 1, 10**4, "the number of classes"))
        need(said["num_tree_per_iteration"] == said["num_class"] and len(parts) % count == 0, "other scores than classes")
        need("average_output" not in said, "a forest of LightGBM is not read")
        sizes = [len(f"Tree={part}\n".encode()) for part in parts]
        need(listed(said.get("tree_sizes", " ".join(map(str, sizes)))) == sizes, "trees of other sizes than the head says")
        for at, part in enumerate(parts):
            lines, empty, rest = (part + "\n").partition("\n\n")
            need(empty and not rest.strip("\n"), "lines behind the end of a tree")
            tree = keyed(lines.split("\n")[1:], LIGHTGBM_KEYS, only=True)
            need(tree.get("is_linear", "0") == "0", "linear leaves are not read")
            keys = "split_feature", "decision_type", "left_child", "right_child", "threshold"
            leaves = [self.leaf(F(float(x)), at % count) for x in listed(tree["leaf_value"])]
            need(leaves and tree["num_leaves"] == str(len(leaves)), "not as many leaves as are told")
            inner = list(in_step({key: listed(tree.get(key, "")) for key in keys}, *keys))
            need(len(inner) == len(leaves) - 1, "lists of several lengths")
            starts, words = listed(tree.get("cat_boundaries") or "0"), listed(tree.get("cat_threshold", ""))
            need(tree["num_cat"] == str(len(starts) - 1), "not as many sets as are told")
            need(starts[0] == 0 and starts[-1] == len(words) and not any(map(gt, starts, starts[1:])), "sets that are not there")
            nodes = []
            for feature, kind, left, right, cut in inner:
                need(whole(kind, 0, 12, "the kind of a split") >> 2 != 1, "zeros that mean missing are not read")
                left, right = (child if child >= 0 else len(inner) + ~child for child in (left, right))
                what, lost = F(float(cut)), kind & 2 > 0 if kind >> 2 == 2 else cut >= 0  # else it is read as 0
                if kind & 1:
                    k = whole(cut, 0, len(starts) - 1, "a set")
                    mine = [whole(word, 0, 1 << 32, "a part of a set") for word in words[starts[k] : starts[k + 1]]]
                    what, lost = frozenset(32 * k + b for k, word in enumerate(mine) for b in range(32) if word >> b & 1), False
                nodes.append((feature, what, left, right, lost))
            self.add(nodes + leaves)

    def read_catboost(self, data):
        """CatBoost's own JSON: values in float32, leaves and sums in float64; all nodes of a level have one split.

        CatBoost counts the borders of a feature below a value, and finds the split by its number among the borders of all.
        """
        told = parsed(data)
        info, about = told["model_info"], told["features_info"]
        need(info.get("binclass_probability_threshold", "0.5") == "0.5", "a threshold of its own")
        scale, base = told["scale_and_bias"]
        need(scale == 1, "a scale")
        kinds = {"Logloss": "logistic", "RMSE": "value", "MultiClass": "largest"}
        self.sums(info["params"]["loss_function"]["type"], kinds, True, 53, [F(float(x)) for x in base])
        need(not about.get("categorical_features"), "categories of CatBoost are not read")
        below = {"AsFalse": True, "AsTrue": False}  # whether what is missing is below all borders, or above
        splits, place = [], -1
        for feature in about["float_features"]:
            place = whole(feature["flat_feature_index"], place + 1, 10**6, "a feature")
            borders, lost = [single(F(x)) for x in feature["borders"]], below.get(feature["nan_value_treatment"])
            need(not any(map(gt, borders, borders[1:])), "borders that fall")
            splits += [(feature["feature_index"], place, border, lost) for border in borders]
        for tree in told["oblivious_trees"]:
            levels, values = tree["splits"], [F(float(x)) for x in tree["leaf_values"]]
            need(len(levels) < 20 and len(values) == len(base) << len(levels), "a tree with other leaves than its splits make")
            leaves = [((F(0), *values[k : k + len(base)]),) for k in range(0, len(values), len(base))]
            nodes = []  # node k of the level of a split has its children at 2k + 1 and 2k + 2; the last split comes first
            for level, split in enumerate(reversed(levels)):
                need(split["split_type"] == "FloatFeature", "a split that is not read")
                own, feature, cut, lost = splits[whole(split["split_index"], 0, len(splits), "the number of a split")]
                same = split["float_feature_index"] == own and single(F(split["border"])) == cut
                need(same, "a split that says something else than its number")
                first = (1 << level) - 1
                nodes += [(feature, cut, 2 * k + 1, 2 * k + 2, lost) for k in range(first, 2 * first + 1)]
            self.add(nodes + leaves)

    def read_arrays(self, data):
        """A copy of scikit-learn's arrays, or of what butfor read, its numbers as hexadecimal floats."""
        told = parsed(data)
        need(told["format"] == "butfor.forest/1", "its format is not known:", shown(told["format"]))
        kinds = {kind: kind for kind in ("logistic", "mean", "shares", "value", "largest", "score", "votes", "stack")}
        first, scale = told["base"] if type(told["base"]) is list else [told["base"]], real(told["scale"], "the scale")
        base = [real(x, "a base") for x in first]
        count, reads = whole(told.get("digits", 53), 24, 54, "the number of digits"), {"float32": True, "float64": False}
        self.sums(told["sum"], kinds, reads[told["reads"]], count, base, told.get("off"), told.get("others", ()))
        self.bent(told.get("curves"), told.get("end"))
        self.cast(told.get("ballots", ()))
        self.plain, weights = scale == 1, [[real(x, "a weight") for x in its] for its in told.get("weights", [[]] * len(base))]
        need(len(weights) == len(base) and len({*map(len, weights)}) == 1, "not a weight of each feature for each sum")
        need(not (self.single and weights[0]), "weights of what is read as float32")
        self.slopes = {f: (F(0), *its) for f, its in enumerate(zip(*weights)) if any(its)}
        for tree in told["trees"]:
            nodes, keys = [], ("feature", "cut", "left", "right", "value")
            tree.setdefault("missing", [None] * len(tree["left"]))
            for feature, cut, left, right, value, lost in in_step(tree, *keys, "missing"):
                if left < 0 and type(value) is list:
                    need(len(value) == len(base), "a leaf of other numbers than classes")
                    nodes.append(((F(0), *[scale * real(x, "a leaf") for x in value]),))
                elif left < 0:
                    nodes.append(self.leaf(scale * real(value, "a leaf"), tree.get("of", 0)))
                else:  # at an infinite cut, only a missing value may go to the other side
                    at = float(cut) if cut in ("inf", "-inf") else real(cut, "a cut")
                    nodes.append((feature, single_below(at) if self.single and abs(at) != INF else at, left, right, lost))
            self.add(nodes)
        need(not told["mean"] or self.kind not in ("votes", *CURVED), "a mean of means, or of votes")
        self.over = whole(told.get("over", len(self.trees)), 1, 10**6, "what sums are divided by") if told["mean"] else 1

    def read_linear(self, data):
        """A copy of the weights of a linear model, as hexadecimal floats."""
        told = parsed(data)
        need(told["format"] == "butfor.linear/1", "its format is not known:", shown(told["format"]))
        lists = [x if type(x) is list else [x] for x in (told["base"], *told["weights"])]
        base, *weights = [[real(x, "a weight") for x in its] for its in lists]
        need(all(len(its) == len(base) for its in weights), "not a weight for each sum")
        kinds = {kind: kind for kind in ("logistic", "mean", "score", "value", "largest", "leaves", "votes", "stack")}
        bits, self.layers = whole(told.get("digits", 53), 24, 54, "the digits"), list(map(Layer, told.get("layers", ())))
        last, off = (self.layers[-1].base, None) if self.layers else (base, told.get("off"))
        self.sums(told["sum"], kinds, False, bits, last, off, told.get("others", ()))
        self.fine = [F(1, 1 << 53)] * (len(base) + 1)  # what a sum of fewer digits is off by is told
        if self.layers:
            self.read_layers(told, base)
        self.weights = [(F(0), *its) for its in weights]
        self.bent(told.get("curves"), told.get("end"))
        self.cast(told.get("ballots", ()))
        need(not any(curve.bend for curve in self.curves), "bent shares of weighted sums are not read")
        if self.kind == "leaves":
            self.read_paths(told["tree"])

    def read_layers(self, told, starts):
        """What a network makes of weighted sums, which are float64 before its own arithmetic begins."""
        network = self.kind in ("logistic", "score", "value", "largest") and not self.others
        need(network, "what a network is not read to make:", self.kind)
        sizes = [len(starts)] + [len(layer.base) for layer in self.layers]
        need(all(len(layer.leak) == n for layer, n in zip(self.layers, sizes)), "a layer of other units than sums reach it")
        self.starts, self.spare = [F(0), *starts], [F(0)] + [real(x, "a doubt") for x in told["off"]]
        need(len(self.spare) == len(self.starts) and min(self.spare) >= 0, "not a doubt for each sum")

    def read_paths(self, tree):
        """A tree whose nodes send a row to the right if a sum is at least 0. Each is reached in one way."""
        ways = {0: []}
        for at, (gate, left, right, value) in enumerate(in_step(tree, "gate", "left", "right", "value")):
            way = ways.pop(at)
            if value is not None:
                self.paths.append((way, [real(x, "a leaf") for x in value]))
                continue
            own = whole(gate, 0, len(self.base) - 1, "a sum of a node") + 1
            for child, pair in (left, (0, own)), (right, (own, 0)):
                need(whole(child, at + 1, 10**6, "a child") not in ways, "two ways lead to node", child)
                ways[child] = [*way, pair]
        need(not ways and len({len(value) for _, value in self.paths}) == 1, "a node is not there, or leaves of unlike numbers")

    def read(self, value):
        return single(value) if self.single and value is not None else value

    @staticmethod
    def left(node, value):
        """Whether a value as it is read, or a missing one (None), goes to the left at a node."""
        if value is not None:
            return value in node[1] if type(node[1]) is frozenset else value <= node[1]
        need(node[-1] is not None, "the model does not say where a missing value goes")
        return node[-1]

    def added(self, row):
        """What is added to the sums, each exact, for a row of features, as they are read."""
        adds = [[weight * row[f] for weight in its] for f, its in enumerate(self.weights) if any(its)]
        for nodes in self.trees:
            node = nodes[0]
            while len(node) > 1:
                node = nodes[node[2] if self.left(node, row[node[0]]) else node[3]]
            adds.append(node[0])
        adds += [[x * row[f] for x in its] for f, its in self.slopes.items() if row[f] is not None]
        added = list(map(sum, zip(*adds))) or [F(0)] * len(self.starts)
        return self.through(added) if self.layers else added

    def through(self, added):
        """What layers add to the last sums, for what was added to the weighted ones."""
        sums = list(map(sum, zip(self.starts, added)))
        for layer in self.layers:
            sums = [F(0), *layer.sums(layer.passed(sums[1:]))]
        return [x - b for x, b in zip(sums, self.base)]


Goal = namedtuple("Goal", "plus less least firm strict")


class Wanted:
    """What is wanted: that in one of some ways, all goals are reached.

    A goal is that one sum exceeds another (what was added to `plus`, less what was added to `less`): an estimator that is right
    within its doubts never says yes below `least` (`strict`: nor at it), and surely from `firm` on. A class is predicted
    if its sum exceeds those of all others, and one of several classes if one of their sums exceeds those of the rest.
    mean: what the curves of sums must add up to, at least and firmly, if they are wanted together; None if no mean is wanted.
        Then `least` and `firm` of a goal are where its sum is 0, at most and at least.
    """

    def __init__(self, model, told, doubts):
        what, which = told["of"]
        ends = [key for key in ("at least", "at most") if key in told]
        need(len(ends) == (what != "class"), "a target without an end, or with two")
        kind = "value" if model.paths and model.classes == 1 else model.kind
        says = {"value": ["value"], "score": ["class"], "votes": ["class"], **({"largest": ["class"]} if model.layers else {})}
        need(what in says.get(kind, ["class", "probability"]), "the model says no", shown(what))
        at, sign = real(told[ends[0]], "an end") if ends else F(1, 2), -1 if ends == ["at most"] else 1
        low, high, named = at * model.over, at * model.over, which if type(which) is list else [which] * (what != "value")
        self.words = f"{'a predicted ' if what == 'value' else 'a ' if ends else ''}{what}"
        classes = [whole(k, 0, model.classes, "the class") for k in named]
        need(len({*classes}) == len(classes), "one of the classes twice")
        every = len(classes) == model.classes  # then every row has what is wanted
        need(not every or model.kind not in CURVED, "all classes of a mean")
        need(len(classes) == (what != "value") or (what == "class" and classes), "a target of no class, or of too many")
        self.words += f"{' of class' if ends else ''} {' or '.join(map(str, classes))}" * (what != "value")
        self.words += f" of {ends[0]} {float(at)!r}" if ends else ""
        self.words += f" ({shown(told.get('label'))})" * ("label" in told)
        self.mean, self.curves, count = None, [], len(model.base) - 1
        if model.kind in ("logistic", *CURVED):
            d = (15 + count) * model.step
            sign, at = (sign, at) if classes[0] else (-sign, 1 - at)
            need(d < at < 1 - d, "a probability so close to 0 or 1 is not proven")
            low, high = logit(at - d)[0], logit(at + d)[1]
        one = model.first + classes[0] if model.kind == "shares" else 1
        pairs = [[(one, 0)[::sign]]]
        if every:
            low, high, pairs = F(0), F(0), [[(0, 0)]]
        elif model.kind == "mean":
            low, high, share_of = F(0), F(0), at if sign > 0 else 1 - at
            self.curves = model.curves if sign > 0 else [curve.other() for curve in model.curves]
            self.mean = tuple(sum(curve.weight for curve in self.curves) * (share_of + way * d) for way in (-1, 1))
            pairs = [[(k, 0)[::sign] for k in range(1, count + 1)]]
        elif model.kind == "largest" and ends:  # the odds against a class add up, rival by rival, to what its probability says
            d, one = (16 + count) * model.step, model.first + classes[0]
            need(d < at < 1 - d, "a probability so close to 0 or 1 is not proven")
            odds, *mean = ((1 - p) / p for p in (at, at + sign * -d, at + sign * d))
            self.mean, low, high = tuple(-sign * x / odds for x in mean), F(0), F(0)
            pairs = [[(one, k)[::sign] for k in range(model.first, model.first + count) if k != one]]
            self.curves = [Power(1 / odds, -sign)] * (count - 1)
        elif model.kind == "stack":
            less = [sign * curve.weight < 0 for curve in model.curves]  # turned, they add their weight less what they did
            rest = sum(abs(curve.weight) for curve, turns in zip(model.curves, less) if turns) - sign * model.end[0]
            own = [curve._replace(weight=abs(curve.weight)) for curve in model.curves]
            self.curves = [curve.other() if turns else curve for curve, turns in zip(own, less)]
            ends = sorted((sign * low, sign * high))
            self.mean, low, high = tuple(rest + end + way * model.end_off() for end, way in zip(ends, (-1, 1))), F(0), F(0)
            pairs = [[(k, 0)[:: -1 if turns else 1] for k, turns in enumerate(less, 1)]]
        elif model.kind == "leaves":
            one = (classes or [0])[0]
            pairs = [way for way, value in model.paths if (
                value.index(max(value)) in classes if what == "class" else sign * value[one] >= sign * at)]  # fmt: skip
            low = high = sign * F(not pairs)  # if no leaf says it, 0 would have to be 1
            pairs = pairs or [[(0, 0)]]
        elif model.kind == "votes":
            low, high, sign = F(0), F(0), 1 if classes[0] else -1
            pairs = [[(1 + k, 0)[::sign] for k in voters] for voters in model.winning(sign)]
            pairs = [way + [(0, 0)] * (max(map(len, pairs)) - len(way)) for way in pairs]  # that 0 is at least 0
        elif what == "class" and model.kind != "logistic":
            low = high = F(0)
            rest = [k for k in range(model.classes) if k not in classes]
            pairs = [[(model.first + k, model.first + other) for other in rest] for k in classes]
        edges = [sign * low, sign * high]
        sure = model.alone or (model.votes and what == "class")  # whole votes are added up without rounding

        def goal(plus, less):  # of equals, the first is predicted
            off, doubt = model.base[less] - model.base[plus], F(0) if sure else doubts[plus] + doubts[less]
            strict = sure and what == "class" and less < plus
            return Goal(plus, less, min(edges) + off - doubt, max(edges) + off + doubt, strict)

        self.ways = [[goal(*pair) for pair in way] for way in pairs]
        self.more = [0] * (bool(self.mean) + sum(len(curve.bend) > 0 for curve in self.curves))

    @classmethod
    def of(cls, model, told, doubts):
        """What is wanted of each of the models that are asked together."""
        each = [told, *told.get("others", ())]
        need(len(each) == len(model.parts), "not what is wanted of each model")
        ends = [(part, one) for part, its in zip(model.parts, each) for one in cls.one_by_one(its)]
        (_, whole), *more = ends
        sums = all(part.kind not in ("votes", "leaves", *CURVED) for part in model.parts)
        first = cls(model.parts[0], whole, model.parts[0].own(doubts))
        need(not more or (sums and not first.mean), "two ends, or other models, of what is no sum")
        for part, one in more:
            its = cls(part, one, part.own(doubts))
            need(not its.mean, "a mean of another model")
            need(len(first.ways) * len(its.ways) <= 10**4, "too many ways")
            first.ways = [way + its.among(part.at, other) for way, other in product(first.ways, its.ways)]
            first.words += f", and {its.words}" if part is model.parts[0] else f", and of {part.named} {its.words}"
        return first

    @staticmethod
    def one_by_one(told):
        """What is wanted of a model, as often as it has an end."""
        both = {"at least", "at most"} <= told.keys()
        return [{k: x for k, x in told.items() if k != end} for end in ("at most", "at least")] if both else [told]

    @staticmethod
    def among(at, way):
        """The goals of a way, if so many other sums come before."""
        return [goal._replace(plus=goal.plus and at + goal.plus, less=goal.less and at + goal.less) for goal in way]

    def reached(self, sums):
        """In which ways sums perhaps reach all goals, and whether they surely do in one of them."""
        ways = [[(sums[goal.plus] - sums[goal.less], goal) for goal in way] for way in self.ways]
        if self.mean:
            each = list(zip(self.curves, ways[0]))
            most, least = (sum(curve.ends(x - goal[end])[way] for curve, (x, goal) in each) for end, way in ((2, 1), (3, 0)))
            return most >= self.mean[0], least > self.mean[1]
        may = [way for way in ways if all(x > goal.least or (x == goal.least and not goal.strict) for x, goal in way)]
        return len(may) > 0, any(all(x > goal.firm or x == goal.firm == goal.least for x, goal in way) for way in may)


# ------------------------------------------------------------------------------------------------------------- columns


class Column:
    """A column of the table, and what its values cost: a number in a range, perhaps on a grid, or a list of levels.

    It is made once for all rows. `of` adds what a row is, what it may become, and at what price.
    features: the features of the model that it sets; inputs (cells): what they are, or a number that goes the same way
    splits: of these features in the model; left (splits): the cells that go to the left there, as bits
    home: the cell of the row; lost: whether the number may be missing, which is its last cell
    price (cells): of the nearest admissible value; None if there is none
    """

    def __init__(self, about, model, splits):
        self.name, self.features, self.model, self.splits = about["name"], about["features"], model, splits
        self.levels = about.get("levels")
        self.lost = self.levels is None and about.get("missing") is not None
        levels = [level[0] for level in self.levels or ()]
        for word in [self.name, *levels]:
            need(type(word) is str and word.isprintable(), "a name that cannot be printed:", shown(word))
        need(len({*levels}) == len(levels), "two levels of one name, in", self.name)
        if self.levels is None:
            return self.read_number(about)
        self.inputs = [self.input(level[1:]) for level in self.levels]
        self.left = [self.goes_left(split) for split in splits]

    def of(self, own, enough, radius=None, replies=()):
        """The column of a row. enough: a price that is too high; radius, replies: its shifts, and where its cuts are moved to."""
        its = copy(self)
        need(self.levels is None or not (radius or any(replies)), "levels that are shifted:", self.name)
        whole_steps = not radius or not self.step or (not self.blur and radius % self.step == 0)
        need(whole_steps, "a radius that is no step of the grid of", self.name)
        its.radius, its.replies = radius or F(0), [told and its.moved_ends(told, radius) for told in replies]
        its.price_numbers(own, enough) if self.levels is None else its.price_levels(own)
        beside = self.levels is None and self.step and its.stay and its.now is not None and (its.now - self.anchor) % self.step
        need(not (beside and any(replies)), self.name, "may stay beside its grid, and its cuts are moved")
        its.reach = [real(x, "a reach") for x in own["reach"]] if "reach" in own else [F(0)] * len(self.levels or range(3))
        need(len(its.reach) == len(self.levels or range(3)) and min(its.reach) >= 0, "not a reach for each change, or below 0")
        need(self.levels is not None or its.now is not None or not its.reach[1], "a reach of a distance from nowhere")
        for moved in its.replies:
            place = moved and {**its.place, **{cut: bisect_right(its.firsts, x) for cut, x in zip(its.read, moved)}}
            its.left = its.left + [its.goes_left(split, place) for split in its.splits]
        return its

    def cheaper(self, claim):
        """What is left of a column if no change may cost as much as a claim."""
        its = copy(self)
        its.price = [p if p is None or p < claim else None for p in self.price]
        if self.levels is None and claim != INF:
            need(not self.square, "a rate per squared unit, where the dearest change counts")
            far = (claim - self.fee) / self.rate if self.rate else INF
            its.low, its.high = max(self.low, self.start - far), min(self.high, self.start + far)
            if self.fee >= claim:
                its.low, its.high = 1, 0
        return its

    def reached(self, value):
        """What the value of a row reaches: a level, or a number, by a fee and a rate per unit, or by becoming missing."""
        if value == self.now:
            return F(0)
        if self.levels is not None:
            return self.reach[value]
        return self.reach[2] if value is None else self.reach[0] + self.reach[1] * abs(value - self.start)

    def dearer(self, share):
        """The column, if a share of what its values reach is added to their prices."""
        if not share:
            return self
        its = copy(self)
        if self.levels is not None:
            its.price = [p if p is None else p + share * self.reached(k) for k, p in enumerate(self.price)]
        else:
            its.fee, its.rate = (x + share * more for x, more in zip((self.fee, self.rate), self.reach))
            its.price = self.price[:-1] + [p if p is None else p + share * self.reached(None) for p in self.price[-1:]]
        return its

    def moved_ends(self, told, radius):
        """Where a reply moves the end of each cut, by at most the radius.

        A number x lies between the ends that cuts i and i + 1 are moved to only if a number within the radius of x lies between
        the cuts: the least of x + radius and cut i + 1, because both are moved by at most the radius. On a grid, ends are points
        of the grid, and cuts between the same two points stay together.
        """
        need(radius and len(told) == len(self.edges), "not an end for each cut of", self.name)
        ends = self.turns
        if self.step:
            near = [self.anchor + (x - self.anchor) // self.step * self.step for x in ends]
            need(all(a != b or end[2] for a, b, (end, _) in zip(near, ends, self.edges)), "a cut that two points of a grid share")
            ends = near
        found = [real(x, "an end") for x in told]
        need(found == sorted(found) and all(abs(x - end) <= radius for x, end in zip(found, ends)), "ends that are moved too far")
        if self.step:
            need(all((x - self.anchor) % self.step == 0 for x in found), "an end that is no point of its grid")
            together = zip(ends, ends[1:], found, found[1:])
            need(all(a != b or x == y for a, b, x, y in together), "cuts between two points of a grid that are parted")
        return found

    def price_levels(self, own):
        self.home = self.now = whole(own["now"], 0, len(self.levels), "the level of the row")
        need(len(own["prices"]) == len(self.levels), "not every level of", self.name, "has a price")
        self.price = [perhaps(x, "a price") for x in own["prices"]]
        need(all(p is None or p >= 0 for p in self.price), "a negative price")
        self.stay = self.price[self.home] is not None

    def input(self, given):
        """What the model reads of the features: numbers, or None for a missing one."""
        need(len(given) == len(self.features), self.name, "does not set each of its features")
        return [self.model.read(perhaps(x, "an input")) for x in given]

    def read_number(self, about):
        need(len(self.features) < 2, self.name, "is a number, and sets several features")
        self.single, self.step, self.anchor, self.blur = about["single"], F(0), F(0), F(0)
        need(type(self.single) is bool, "neither true nor false")
        if about["grid"] is not None:
            self.step, self.anchor = map(fraction, about["grid"])
            need(self.step > 0, "a step of a grid that is not above 0")
            dyadic = all(x.denominator & (x.denominator - 1) == 0 for x in (self.step, self.anchor))
            self.blur = F(0) if dyadic else F(1, 1 << (22 if self.single else 49))
        cuts = {split[1] for split in self.splits}
        need(not any(type(cut) is frozenset for cut in cuts), "a number that the model takes for a category:", self.name)
        self.line = [real(x, "a line") for x in about.get("line") or (1, 0, 0)]
        self.moved = about["edges"] is not None  # by the pipeline; then the edges are where it leads to the cuts
        self.read = sorted(cut for cut in cuts if abs(cut) != INF)
        edges = [real(x, "an edge") for x in about["edges"]] if self.moved else self.read
        need(len(edges) == len(self.read) and edges == sorted(edges), "not an edge for each cut of", self.name)
        self.missing = [self.input(given) for given in [about.get("missing")] if self.lost]
        self.edges = [(self.ends_at(x), cut) for x, cut in zip(edges, self.read)]
        self.turns = [self.turn(x) for x in edges]
        self.weighed = bool(self.model.weights) or any(f in self.model.slopes for f in self.features)
        same = not self.moved and self.line == [1, 0, 0]
        need(same or not self.weighed or self.model.weights, self.name, "is changed before trees and weights")
        self.replies = []
        self.part(set())

    def part(self, more):
        """Part the numbers into cells: where the model does, and at more points, on both sides of which it goes the same way."""
        moved = {x for ends in self.replies for x in ends or ()}
        places = {single_below(x) for x in moved} if self.single else moved
        self.more = (more | places) - {end[0] for end, _ in self.edges}
        both = moved if self.model.single and not (self.moved or self.step) else ()  # where both cells have the end, as at cuts
        after = {x: next_single(x, 1) for x in places if self.single and x not in both}
        own = [((end[0], end[0], False) if end[0] in both else end, cut) for end, cut in self.edges]
        cut_above = {x: next((cut for end, cut in self.edges if end[0] > x), INF) for x in self.more}
        parts = [((x, after.get(x, x), x not in both), cut) for x, cut in cut_above.items()]
        self.ends, cuts = zip(*sorted(own + parts)) if own + parts else ((), ())
        self.firsts = [end[0] for end in self.ends]
        self.place = {cut: at for at, cut in enumerate([-INF, *cuts, INF])}
        self.inputs = [[cut] * len(self.features) for cut in [*cuts, INF]] + self.missing
        self.left = [self.goes_left(split) for split in self.splits]

    def price_numbers(self, own, enough):
        self.low, self.high = (real(own[k], k + " of " + self.name) for k in ("least", "most"))
        self.now, lose = (perhaps(own.get(k), k + " of " + self.name) for k in ("now", "missing"))
        need(not self.single or self.now is None or single(self.now) == self.now, self.name, "is told to be float32, and is not")
        self.far = max(map(abs, [self.now or 0] + [self.low, self.high] * (self.low <= self.high))) + self.radius
        self.start = self.low if self.now is None else self.now  # from where moves are counted, which then cost only the fee
        self.fee, self.rate, self.square = (real(x, "a price") for x in own["price"])
        need(min(self.fee, self.rate, self.square, lose or 0) >= 0, "a negative price")
        self.stay = own["stay"]
        need(type(self.stay) is bool, "neither true nor false")
        need(self.now is not None or (self.rate, self.square, lose) == (0, 0, None), "a price of a distance from nowhere")
        need(self.lost or (self.now is not None and lose is None), self.name, "is never missing")
        if own.get("ends") or any(self.replies):
            self.part({real(x, "an end of a cell") for x in own.get("ends", ())})
        self.home, count = self.cell(self.now), len(self.ends) + 1
        self.price, near = [2 * enough] * count, min(self.home, count - 1)
        for way in range(near, count), range(near - 1, -1, -1):
            for c in way:  # all of a cell on one side of the row costs too much: so does what is farther on this side
                self.price[c], (low, high) = self.cheapest_in(c), self.range_of(c)
                aside = high <= self.start if c < near else low >= self.start
                if aside and self.price[c] is not None and self.price[c] >= enough:
                    break
        self.price += [F(0) if self.now is None and self.stay else lose] * self.lost

    def ends_at(self, cut):
        """The largest number that is perhaps read as up to a cut, the least that is perhaps read as above, if not itself."""
        if self.single:
            return single_below(cut), next_single(single_below(cut), 1), False
        return self.turn(cut), self.turn(cut), self.turn(cut) == cut

    def turn(self, cut):
        """Up to where numbers of any digits are perhaps read as up to a cut."""
        return cut if self.moved or not self.model.single else (cut + next_single(cut, 1)) / 2

    def cell(self, value):
        if value is None:
            return len(self.ends) + 1
        if self.moved:
            return sum(end[0] < value for end in self.ends)
        return bisect_left(self.read, self.model.read(value)) + sum(x < value for x in self.more)

    def taxed(self, cell, taxes, free):
        """The least of price and taxes in a cell, or less. taxes: each, and what a unit of the number counts, or each level."""
        if self.levels is None and cell <= len(self.ends):
            return self.cheapest_in(cell, sum(t * x for t, x in taxes), free)
        return sum((t * x[cell] for t, x in taxes if self.levels), F(0) if free else self.price[cell])

    def range_of(self, cell):
        """Between which admissible numbers all of a cell lie."""
        low = max(self.low, self.ends[cell - 1][1]) if cell else self.low
        high = min(self.high, self.ends[cell][0]) if cell < len(self.ends) else self.high
        closed = cell and not self.blur and self.ends[cell - 1][1:] == (low, True)  # the end itself lies in the cell before
        if self.step and closed and (low - self.anchor) % self.step == 0:
            low += self.step
        return low, high

    def span(self, cell):
        """Between which numbers all of a cell lie that count: a missing one counts as 0."""
        if cell > len(self.ends):
            return F(0), F(0)
        its, own = self.range_of(cell), [self.now] * (self.stay and cell == self.home)
        if self.step and its[0] <= its[1]:
            first, last, blur = self.steps(*its)
            its = self.anchor + first * self.step - blur, self.anchor + last * self.step + blur
        return (min(*its, *own), max(*its, *own)) if its[0] <= its[1] or not own else (self.now, self.now)

    def cheapest_in(self, cell, slope=F(0), free=False):
        """The least of price + slope x over the admissible values of a cell, or less; None if there are none."""
        low, high = self.range_of(cell)
        own = self.stay and (cell == self.home or (self.now is not None and low <= self.now <= high))
        found = self.least(low, high, slope, free)
        return min([slope * (self.now or 0)] * own + ([found[0]] if found else []), default=None)

    def least(self, low, high, slope, free=False):
        """The least of price + slope x over a change to a number of a range, or less, and where; None if there is none."""
        near, blur = [self.start, low, high] if slope else [self.start], 0
        if slope and self.square and not free:  # where the price rises as fast as the rest falls
            near += [self.start + (way * self.rate - slope) / (2 * self.square) for way in (-1, 1)]
        near = [min(max(x, low), high) for x in near] if low <= high else []
        if self.step:
            first, last, blur = self.steps(low, high)
            places = {k for x in near for k in ((x - self.anchor) // self.step, up(x - self.anchor, self.step))}
            near = {self.anchor + min(max(k, first), last) * self.step for k in places} if first <= last else ()
        slack = {x: blur * (self.rate + 2 * self.square * (abs(x - self.start) + blur) + abs(slope)) for x in near if blur}
        return min([(self.paid(x, free) + slope * x - slack.get(x, 0), x) for x in near], default=None)

    def steps(self, low, high):
        """The first and the last step of the grid in a range, and how far a number may be off of it."""
        blur = 2 * self.blur * (abs(self.anchor) + max(abs(low), abs(high)))
        return up(low - blur - self.anchor, self.step), (high + blur - self.anchor) // self.step, blur

    def paid(self, value, free=False):
        """What a change to a number costs, unless nothing has a price."""
        move = abs(value - self.start)
        return F(0) if free else self.fee + move * (self.rate + self.square * move)

    def takes(self, value):
        """The price of an answer's value, and whether it is a change. It must be admissible."""
        if self.levels is None:
            value = perhaps(value, "a value of the answer")
            if value == self.now and self.stay:
                return F(0), False
            if value is not None:
                need(self.low <= value <= self.high and value != self.now, self.name, "leaves its range, or may not stay")
                off = abs(value - self.anchor - round((value - self.anchor) / self.step) * self.step) if self.step else 0
                need(off <= 2 * self.blur * (abs(value) + abs(self.anchor)), self.name, "leaves its grid")
                return self.paid(value), True
            need(self.lost, self.name, "is never missing")
        price = self.price[-1 if value is None else whole(value, 0, len(self.levels), "a level of the answer")]
        need(price is not None, self.name, "may not become", self.word(value))
        return price, value != self.now

    def sets(self, value):
        """What a value sets the features to, or numbers that go the same way."""
        if self.levels is not None:
            return self.inputs[value]
        value = perhaps(value, "a value")
        line = value is not None and self.weighed
        return [self.line[0] * value + self.line[1]] if line else self.inputs[self.cell(value)]

    def goes_left(self, split, place=None):
        """The cells that go to the left, as bits. place: how many do at each cut, if a reply moved the cuts."""
        at = self.features.index(split[0])
        if self.levels is not None:
            return sum(1 << k for k, inputs in enumerate(self.inputs) if self.model.left(split, inputs[at]))
        lost = self.lost and self.model.left(split, self.inputs[-1][at])
        return (1 << (place or self.place)[split[1]]) - 1 | bool(lost) << len(self.ends) + 1

    def set_of(self, *told):
        """A set of values: positions of levels, or numbers above one and at most another, perhaps with the missing one."""
        if self.levels is not None:
            return sum({1 << whole(k, 0, len(self.levels), "a level of a rule") for k in told[0]})
        above, most, lost = told
        need(type(lost) is bool and lost <= self.lost, self.name, "is missing in a rule")
        return -INF if above is None else real(above, "a rule"), INF if most is None else real(most, "a rule"), lost

    def set_said(self, its):
        if self.levels is not None:
            return " or ".join(self.word(k) for k in range(len(self.levels)) if its >> k & 1)
        ends = [f"{words} {digits(x)}" for words, x in zip(("above", "at most"), its) if abs(x) != INF]
        return (" and ".join(ends) or "a number") + " or missing" * its[2]

    def lies(self, value, its):
        """Whether a value, a number or the position of a level, lies in a set."""
        if self.levels is not None:
            return its >> value & 1
        return its[2] if value is None else its[0] < value <= its[1]

    def cells_in(self, its):
        """The cells that lie in a set as a whole, as bits."""
        if self.levels is not None:
            return its
        above, most, lost = its
        begins, ends = [(-INF, True), *(end[1:] for end in self.ends)], [*(end[0] for end in self.ends), INF]
        inside = [end <= most and (begin > above or (begin == above and open)) for (begin, open), end in zip(begins, ends)]
        return sum(1 << k for k, its in enumerate([*inside, lost]) if its)

    def word(self, value):
        if self.levels is not None:
            return self.levels[value][0]
        return "missing" if value is None else digits(real(value, "a value") if type(value) is str else value)

    def said(self):
        """What the column is now and may become, in words."""
        stay = "" if self.stay else " and may not stay so"
        if self.levels is not None:
            may = [f"{self.word(k)} at {digits(p)}" for k, p in enumerate(self.price) if p is not None and k != self.now]
        else:
            grid = f"on the grid {self.step} k + {self.anchor}" if self.step else "float32" if self.single else "any number"
            parts = [(self.fee, "for any change"), (self.rate, "a unit"), (self.square, "a unit squared")]
            price = " and ".join(f"{digits(x)} {words}" for x, words in parts if x) or "nothing"
            may = [f"{digits(self.low)} to {digits(self.high)}, {grid}, at {price}"] * (self.low <= self.high)
            may += [f"missing at {digits(p)}" for p in self.price[-1:] if self.lost and self.now is not None and p is not None]
        return f"{self.name}: is {self.word(self.now)}{stay}; may become {', or '.join(may) or 'nothing else'}"


class Relation:
    """What columns add up to lies between two ends, give or take a little.

    adds: for some columns, what a unit of the number adds, or what each level adds
    limits: as which sums are to be at most so much: (what each column adds, the most)
    """

    def __init__(self, told, columns):
        self.adds, self.off = {}, real(told["off"], "a doubt")
        self.least, self.most = (None if told[key] is None else fraction(told[key]) for key in ("least", "most"))
        need(self.off >= 0 and (self.least, self.most) != (None, None), "a relation without an end, or a negative doubt")
        for j, its in told["adds"]:
            column = columns[whole(j, 0, len(columns), "a column of a relation")]
            need(j not in self.adds, column.name, "is twice in a relation")
            need(not column.lost or column.price[-1] is None, column.name, "is in a relation, and may be missing")
            self.adds[j] = fraction(its) if column.levels is None else list(map(fraction, its))
            need(column.levels is None or len(its) == len(column.levels), "not every level of", column.name, "adds a number")
        less = {j: [-x for x in its] if type(its) is list else -its for j, its in self.adds.items()}
        ends = (self.adds, self.most, 1), (less, self.least, -1)
        self.limits = [(adds, way * end + self.off) for adds, end, way in ends if end is not None]

    def said(self, columns):
        each = [(columns[j], its) for j, its in sorted(self.adds.items())]
        parts = [f"{x} times {c.name}" if c.levels is None else
                 f"of {c.name} ({', '.join(f'{c.word(k)}: {y}' for k, y in enumerate(x))})" for c, x in each]  # fmt: skip
        ends = " and ".join(f"{x} {words}" for x, words in ((self.least, "at least"), (self.most, "at most")) if x is not None)
        return f"The sum of {', '.join(parts)} is {ends}, give or take {at_most(self.off)}."

    def kept(self, columns, values):
        """Whether the values of an answer keep it: numbers, or the positions of levels."""
        total = sum(its[values[j]] if type(its) is list else its * values[j] for j, its in self.adds.items())
        return all(x is None or way * (total - x) <= self.off for way, x in ((1, self.most), (-1, self.least)))


class Form:
    """What is added to what a row costs: d' Q d for the changes d of some numbers, or 0 if that is below 0.

    Q + off I is positive semidefinite. So d' Q d is at least 2 y' Q d - y' Q y - off x (squared sizes of d - y), whatever y is.
    far: how large each change may be
    """

    def __init__(self, told, columns):
        self.at = [whole(j, 0, len(columns), "a column of a form") for j in told["columns"]]
        need(0 < len({*self.at}) == len(self.at) <= 200, "a column is twice in a form, or none or too many are in it")
        self.q, self.off = [[real(x, "a form") for x in row] for row in told["q"]], real(told["off"], "a doubt")
        need(self.off >= 0, "a form that is off by less than nothing")
        square = [len(row) for row in self.q] == [len(self.at)] * len(self.at)
        need(square and self.q == [*map(list, zip(*self.q))], "no symmetric form")
        self.start, self.far = [columns[j].start for j in self.at], []
        for column in (columns[j] for j in self.at):
            known = column.levels is None and column.now is not None and (not column.lost or column.price[-1] is None)
            need(known, column.name, "is no number that stays known, in a form")
            ends = (column.low, column.high) if column.low <= column.high else ()
            self.far.append(max((abs(end - column.start) for end in ends), default=F(0)))
        self.need_positive()

    def need_positive(self):
        """Q + off I is positive semidefinite, by more than what is rounded here.

        Elimination writes it as a sum of squares of rows over their first numbers. It is rounded before it and at each of its
        steps, each time by less than a unit in an entry. Together that is less than n units, and n squared of each square.
        """
        lifted = [[x + self.off * (i == k) for k, x in enumerate(row)] for i, row in enumerate(self.q)]
        powers = [power_below(row[i]) for i, row in enumerate(lifted)]
        root = [F(2) ** ((x.numerator.bit_length() - x.denominator.bit_length()) // 2) for x in powers]
        rows = [[x / (r * s) // FINEST for x, s in zip(row[i:], root[i:])] for i, (row, r) in enumerate(zip(lifted, root))]
        for i, row in enumerate(rows):  # each from the diagonal on
            row[0] -= len(rows) ** 2
            need(row[0] > 0, "a form that may be negative")
            for k, x in enumerate(row[1:], 1):
                if x:
                    rows[i + k] = [y - x * z // row[0] for y, z in zip(rows[i + k], row[k:])]

    def of(self, values):
        """What the values of a row add."""
        d = [values[j] - x for j, x in zip(self.at, self.start)]
        return max(sum(x * sum(map(mul, row, d)) for x, row in zip(d, self.q)), F(0))

    def tangent(self, y):
        """The slopes of the columns at changes, and what is to be taken from what slopes x numbers add up to."""
        need(len(y) == len(self.at), "not a change for each column of a form")
        slope = [2 * sum(map(mul, row, y)) for row in self.q]
        off = self.off * sum((far + abs(x)) ** 2 for far, x in zip(self.far, y))
        return dict(zip(self.at, slope)), sum(map(mul, slope, y)) / 2 + sum(map(mul, slope, self.start)) + off


class Rule:
    """What never is true at once: that each of some columns lies in a set.

    parts: (column, set), which is some levels, as bits, or (above, most, whether missing belongs to it)
    """

    def __init__(self, told, columns):
        need(told, "a rule about nothing")
        self.parts = [(j, columns[whole(j, 0, len(columns), "a column of a rule")].set_of(*its)) for j, *its in told]

    def said(self, columns):
        return f"Never at once: {', and '.join(columns[j].name + ' is ' + columns[j].set_said(its) for j, its in self.parts)}."

    def kept(self, columns, values):
        return not all(columns[j].lies(values[j], its) for j, its in self.parts)


def leave_out(rules, box, without):
    """Leave out, in place, what a rule forbids because all else of it is true in a box. Returns whether there was any.

    rules: parts (column, set); without: what is left of a part of a column without a set, nothing if that is all of it
    """
    before = list(box)
    for parts in rules:
        rest = [(j, without(j, box[j], its)) for j, its in parts]
        free = [(j, left) for j, left in rest if left]
        if len(free) < 2:
            j, left = (free or rest)[0]
            box[j] = left
    return box != before


class Tree:
    """A tree over the cells that a row below the claim can afford.

    blocks: for each column (number, cells, runs); entries: (column, cells, numbers of blocks)
    leaves: (scores, entries), with a score for each goal of each way
    """

    def __init__(self, nodes, columns, alive, first):
        self.blocks, self.entries, self.leaves = {}, [], []
        parts, known = {}, {}
        for j, split in {node[:2] for node in nodes if len(node) > 1}:
            cells = columns[j].left[split]
            if 0 < cells & alive[j] < alive[j]:
                parts[j] = [p for part in parts.get(j, [alive[j]]) for p in (part & cells, part & ~cells) if p]
        for j in sorted(parts):
            self.blocks[j] = [(n, p, runs(p)) for n, p in enumerate(sorted(parts[j], key=lambda p: p & -p), first)]
            first += len(parts[j])
        stack = [(0, {})]
        while stack:
            at, box = stack.pop()
            if len(nodes[at]) > 1:
                j, split, left, right = nodes[at]
                for child, some in (right, ~columns[j].left[split]), (left, columns[j].left[split]):
                    inside = box.get(j, alive[j]) & some
                    if inside:
                        stack.append((child, box if inside == alive[j] else {**box, j: inside}))
                continue
            for item in sorted(box.items()):
                if item not in known:
                    known[item] = len(self.entries)
                    self.entries.append((*item, [n for n, part, _ in self.blocks[item[0]] if part & item[1]]))
            self.leaves.append((nodes[at][0], [known[item] for item in sorted(box.items())]))


class Shared:
    """What all rows of a question share.

    columns: not yet of a row
    trees: nodes (column, which of its splits, left, right), and leaves (what they add to each goal of each way, in grains)
    """

    def __init__(self, told, model):
        need(told["format"] == "butfor.question/1", "another format of a question:", shown(told["format"]))
        self.told, self.model, self.grain, self.trees, column_of = told, model, GRAIN, [], {}
        for j, about in enumerate(told["columns"]):
            for f in about["features"]:
                need(whole(f, 0, 10**6, "a feature") not in column_of, "two columns set feature", f)
                column_of[f] = j
        used = {*model.splits, *model.slopes, *(f for f, its in enumerate(model.weights) if any(its))}
        need(used <= column_of.keys(), "no column sets feature", *sorted(used - column_of.keys())[:1])
        splits = [[split for f in about["features"] for split in model.splits.get(f, ())] for about in told["columns"]]
        self.columns = [Column(about, model, its) for about, its in zip(told["columns"], splits)]
        need(len({column.name for column in self.columns}) == len(splits), "two columns of one name")
        self.slopes = {column_of[f]: its for f, its in model.slopes.items()}
        need(all(self.columns[j].levels is None for j in self.slopes), "a level that is weighed beside trees")
        if not model.weights:
            place = {split: (j, k) for j, its in enumerate(splits) for k, split in enumerate(its)}
            self.count_in_grains(Wanted.of(model, told["wanted"], model.doubts), place)

    def count_in_grains(self, wanted, place):
        pairs = {(goal.plus, goal.less) for way in wanted.ways for goal in way}
        sizes = [abs(leaf[plus] - leaf[less]) for its in self.model.leaves for leaf in its for plus, less in pairs]
        self.grain = power_below(max(sizes) or F(1)) / 2**FINE

        def counted(leaf):
            return [[up(leaf[goal.plus] - leaf[goal.less], self.grain) for goal in way] + wanted.more for way in wanted.ways]

        for nodes in self.model.trees:
            its = [(*place[(*node[:2], node[4])], *node[2:4]) if len(node) > 1 else (counted(*node),) for node in nodes]
            self.trees.append(its)


def either(told, model):
    """What all rows share, for each of the targets of which one is wanted, with what that costs by itself. Most have one."""
    wanted = told["wanted"]
    each = wanted.get("either", [[0, wanted]])
    need(0 < len(each) <= 1000, "no target, or too many")
    found = [(real(extra, "a cost"), Shared({**told, "wanted": its}, model)) for extra, its in each]
    need(all(extra >= 0 for extra, _ in found), "a target that costs less than nothing")
    return found


class Question:
    """The question: what must add up to the goals, at a cost below the bound.

    shared: what all rows share; own: the row, what it may become at what price, and the claim
    extra: what is wanted costs so much by itself; done: whether that is the bound, or more, so that nothing is left to prove
    """

    def __init__(self, shared, own, extra=F(0)):
        self.model, self.grain, self.extra = shared.model, shared.grain, extra
        need(len(own["columns"]) == len(shared.columns), "not every column has a line of its own")
        below, self.copies = perhaps(own["below"], "the bound"), 1 + len(own.get("replies", ()))
        need(below is None or below > 0, "a bound that says nothing")
        self.done = below is not None and below <= extra
        self.claim = None if below is None or self.done else below - extra
        need(own.get("cost", "sum") in ("sum", "largest"), "a cost that is not known")
        self.largest = own.get("cost") == "largest"  # then no change may cost as much as the claim, and is free below
        self.reaching = any("reach" in mine for mine in own["columns"])  # then the largest reach is added to what a row costs
        self.none = self.claim is None or self.largest  # no row at all: then nothing has a price
        self.below, enough = F(1) if self.none else self.claim, INF if self.claim is None else self.claim
        self.norm, radius = self.ball(own.get("ball"), len(shared.columns))
        replies = [self.reply(told, len(shared.columns)) for told in own.get("replies", ())]
        each = enumerate(zip(shared.columns, own["columns"], radius))
        moved = [] if self.model.layers else replies
        self.asked = [column.of(mine, enough, r, [its[j] for its in moved]) for j, (column, mine, r) in each]
        self.columns = [column.cheaper(enough) if self.largest else column for column in self.asked]
        self.form = Form(own["form"], self.columns) if "form" in own else None
        need(not self.largest or not (self.reaching or self.form), "the dearest change, and more")
        self.counted = own["changes"] is not None
        self.limit = whole(own["changes"] if self.counted else len(self.columns), 0, len(self.columns) + 1, "the changes")
        self.relations = [Relation(told, self.columns) for told in own.get("relations", ())]
        self.limits = [limit for relation in self.relations for limit in relation.limits]
        self.rules = [Rule(told, self.columns) for told in own.get("never", ())]
        each = [[adds.get(j, 0) for adds, _ in self.limits] for j in range(len(self.columns))]
        self.terms = [Term(column, self.model, its) for column, its in zip(self.columns, each) if self.model.weights]
        sizes = list(zip(*[term.size for term in self.terms]))
        doubts = self.model.passed_on(sizes, [sum(its) for its in zip(*[term.off for term in self.terms])])
        more = [[abs(x) * self.columns[j].far for x in its] for j, its in shared.slopes.items()]
        self.wanted = Wanted.of(self.model, shared.told["wanted"], doubts or self.model.doubted(more))
        sums = not (self.wanted.mean or self.model.layers)
        need(sums or not (self.reaching or self.form), "a largest reach, or a form, of what is no sum")
        steps = any(column.radius and column.step for column in self.columns)
        need(self.norm in (None, "linf") or not steps, "a round ball of numbers on a grid")
        alike = sums and not self.model.paths and self.model.kind != "votes"  # near a row, others may win
        need(not self.norm or alike or self.model.layers, "a ball of what is no sum")
        trees = self.norm == "linf" and not self.model.weights
        need(self.copies == 1 or trees or (self.norm and self.model.layers), "replies without a ball, or a box of trees")
        held = self.norm and not self.model.layers
        self.ways = [[self.held(goal) if held else goal for goal in way] * self.copies for way in self.wanted.ways]
        if self.model.layers and self.copies > 1:
            self.model = self.beside([self.shift(its) for its in replies])
            self.terms = [Term(t.column, self.model, adds) for t, adds in zip(self.terms, each)]
        need(not (self.norm and shared.slopes), "a ball of trees beside weights")
        self.slopes = [{j: [its[goal.plus] - its[goal.less] for goal in way] + self.wanted.more
                        for j, its in shared.slopes.items()} for way in self.ways]  # fmt: skip
        if not self.model.weights:
            self.count_in_units(shared.trees)

    def added_words(self):
        """What is added to the prices of a row, in words."""
        if self.reaching:
            yield "  To the sum of prices, the largest reach of a column is added:"
            for c in (c for c in self.asked if any(c.reach)):
                words = ("for any change", "a unit", "for becoming missing") if c.levels is None else [x[0] for x in c.levels]
                yield f"    {c.name}: {', '.join(f'{digits(x)} {its}' for x, its in zip(c.reach, words) if x)}"
        if self.form:
            names = ", ".join(self.asked[j].name for j in self.form.at)
            yield f"  To the sum of prices, a quadratic form of the changes of {names} is added. Its rows:"
            yield from (f"    {' '.join(map(digits, row))}" for row in self.form.q)

    @staticmethod
    def ball(told, columns):
        """The norm of the shifts of the numbers that a row is to withstand, and how far each is shifted."""
        if told is None:
            return None, [None] * columns
        radius = [perhaps(x, "a radius") for x in told["radius"]]
        need(told["norm"] in ("linf", "l2", "l1") and len(radius) == columns, "a ball that is not known")
        need(all(x is None or x > 0 for x in radius), "a radius that is not above 0")
        return told["norm"], radius

    @staticmethod
    def reply(told, columns):
        """What a reply says of each column: where the ends of its cuts are moved to; None if they stay."""
        its = {whole(j, 0, columns, "a column"): ends for j, ends in told}
        need(len(its) == len(told), "a column that is there twice")
        return [its.get(j) for j in range(columns)]

    def shift(self, reply):
        """By how much a reply shifts each number before a network. It lies in the ball."""
        found, shares = [F(0) for _ in self.columns], []
        for j, its in enumerate(reply):
            column = self.columns[j]
            if its is not None:
                need(column.radius and len(its) == 1, "a shift of", column.name, "which is not shifted, or not one")
                found[j] = real(its[0], "a shift")
                need(not column.step or found[j] % column.step == 0, "a shift that is no step of the grid of", column.name)
                shares.append(abs(found[j]) / column.radius)
        most = {"linf": max(shares, default=0), "l1": sum(shares), "l2": sum(x * x for x in shares)}
        need(most[self.norm] <= 1, "a shift beyond the ball")
        return found

    def beside(self, shifts):
        """The network beside itself, once for each shift. Each has goals of its own last sums."""
        its, last = copy(self.model), len(self.model.base) - 1
        its.weights = [[w[0], *w[1:] * self.copies] for w in its.weights]
        its.base, its.starts = [F(0), *its.base[1:] * self.copies], list(its.starts)
        for shift in shifts:
            moved = [(t.slope, x) for t, x in zip(self.terms, shift) if x]
            its.starts += [start + sum(slope[k] * x for slope, x in moved) for k, start in enumerate(self.model.starts) if k]
        its.layers = [Beside(layer, self.copies) for layer in its.layers]
        self.ways = [[g for c in range(self.copies) for g in Wanted.among(c * last, way)] for way in self.wanted.ways]
        return its

    def held(self, goal):
        """A goal that weighted sums reach with all shifts of numbers, which take at most the dual norm of the slopes, or less."""
        each = [abs(t.slope[goal.plus] - t.slope[goal.less]) * t.column.radius for t in self.terms if not t.levels]
        loss = max(each, default=F(0)) if self.norm == "l1" else sum(each)
        if self.norm == "l2":
            loss = F(isqrt(int(sum(x * x for x in each) * (1 << 200))), 1 << 100)
        return goal._replace(least=goal.least + loss)

    def count_in_units(self, trees):
        """Trees in whole numbers: leaves in grains of score, prices in units of cost."""
        self.count, self.trees = 0, []
        self.unit = power_below(self.below) / 2**FINE
        self.bound = up(self.below, self.unit)  # rounded up, and prices down
        worth = 0 if self.none else 1 / self.unit
        self.price = [[p if p is None else min(max(0, int(p * worth)), self.bound) for p in c.price] for c in self.columns]
        self.home = [column.stay << column.home for column in self.columns]
        least = [min((p for p in row if p is not None), default=self.bound) for row in self.price]
        spare = [self.bound - sum(least) + low for low in least]  # no cells are looked at but those of rows below the claim
        affordable = [[p is not None and p < its for p in row] for row, its in zip(self.price, spare)]
        self.alive = [sum(1 << c for c, can in enumerate(row) if can) for row in affordable]
        for nodes in self.copied(trees):
            self.trees.append(Tree(nodes, self.columns, self.alive, self.count))
            self.count += sum(map(len, self.trees[-1].blocks.values()))
        self.never = [[(j, self.columns[j].cells_in(its)) for j, its in rule.parts] for rule in self.rules]
        self.goals = [[self.raised(w, k, goal) for k, goal in enumerate(way)] for w, way in enumerate(self.ways)]
        if self.wanted.mean:  # lines inside of curves and the mean are more goals, to which leaves add nothing by themselves
            self.goals[0] += [0 for curve in self.wanted.curves if curve.bend] + [self.wanted.mean[0] * SHARE // 1]

    def copied(self, trees):
        """The trees, and once more for each reply, with its ends of cuts. A copy adds only to goals of its own."""
        if self.copies == 1:
            return trees

        def copied(c, node):
            if len(node) > 1:
                return (node[0], node[1] + c * len(self.columns[node[0]].splits), *node[2:])
            return ([[0] * c * len(way) + way + [0] * (self.copies - 1 - c) * len(way) for way in node[0]],)

        return [[copied(c, node) for node in nodes] for c in range(self.copies) for nodes in trees]

    def taxed(self, tax, share, tangent, gain):
        """The least prices of cells if a unit of each limit costs so much more, and what is paid back for the limits.

        share: of what each column reaches, which is added; tangent: likewise the slopes of a form, and what is paid back
        gain: what a unit of a number that is weighed beside trees costs besides, which is below 0 if it helps
        """
        price, (slopes, back) = list(self.price), tangent
        some = {j for _, (adds, _) in zip(tax, self.limits) for j in adds} | {j for j, x in enumerate(share) if x}
        for j in some | slopes.keys() | gain.keys():
            its = [(t, adds[j]) for t, (adds, _) in zip(tax, self.limits) if j in adds]
            its += [(each[j], F(1)) for each in (slopes, gain) if j in each]
            column = self.columns[j].dearer(share[j])
            price[j] = [-up(-column.taxed(k, its, self.none), self.unit) if self.alive[j] >> k & 1 else None
                        for k in range(len(price[j]))]  # fmt: skip
        return price, up(sum((t * most for t, (_, most) in zip(tax, self.limits)), back), self.unit)

    def gain(self, way, rates, shift):
        """What a unit of each number costs besides that is weighed beside trees, if scores are worth so much."""
        worth = self.unit / (self.grain * (1 << shift))
        each = {j: -worth * sum(map(mul, rates, its)) for j, its in self.slopes[way].items()}
        return {j: x for j, x in each.items() if x}

    def tax(self, what):
        """What a unit of each limit costs."""
        tax = [real(x, "a tax") for x in what]
        need(len(tax) == len(self.limits) and min(tax, default=-1) >= 0, "not a tax of at least 0 for each limit")
        return tax

    def share(self, what):
        """Shares of what each column reaches. The largest reach is at least their sum."""
        need(self.reaching and len(what) == len(self.columns), "not a share for each column, or nothing is reached")
        shares = [real(x, "a share") for x in what]
        need(min(shares) >= 0 and sum(shares) <= 1, "shares that add up to more than 1")
        return [F(0)] * len(shares) if self.none else shares

    def tangent(self, what):
        """The slopes of a form at some changes, column by column, and what is to be taken from their sum."""
        need(self.form and not self.none, "a tangent of no form")
        return self.form.tangent([real(x, "a change") for x in what])

    def raised(self, w, k, wanted):
        """Goal k of way w in grains: the least that scores can add up to, and that suffices."""
        exact = wanted.least / self.grain  # scores are rounded up, and whole numbers reach it
        if self.wanted.mean:
            return exact // 1
        goal = exact.numerator // exact.denominator + 1 if wanted.strict else up(exact)
        if any(its[k] for its in self.slopes[w].values()):
            return goal
        scores = [[score[w][k] for score, _ in tree.leaves] for tree in self.trees if tree.leaves]
        first = [its[0] for its in scores]  # sums are those of the first leaves, and so many steps
        step = reduce(gcd, [score - its[0] for its in scores for score in its], 0)
        return goal + ((sum(first) - goal) % step if step else 0)

    def misses(self, most, way):
        """Whether scores that are at most these miss a goal."""
        if self.wanted.mean:
            its = zip(self.wanted.curves, most, self.goals[0])
            return sum(curve.ends((x - goal) * self.grain)[1] for curve, x, goal in its) < self.wanted.mean[0]
        return any(map(lt, most, self.goals[way]))

    def curve(self, rates, low, high):
        """At most so much is the mean worth more than its sums, if they lie between these ends; 0 if no mean is wanted."""
        mean, inner, total = rates[-1] * SHARE, iter(rates[len(self.wanted.curves) :]), 0
        for curve, rate, zero, a, b in zip(self.wanted.curves, rates, self.goals[0], low, high):
            inside = next(inner) * SHARE if curve.bend else 0
            total += up(curve.above(mean, rate, inside, a - zero, b - zero, self.grain))
        return total

    def answer(self, values):
        """The cost of an answer, whether the estimator surely says what is wanted, and what that is; None if it does not."""
        need(len(values) == len(self.columns), "the answer has not one value for each column")
        cost, changed, row, own = F(0), 0, {}, []
        for column, value in zip(self.asked, values):
            price, moved = column.takes(value)
            cost, changed = max(cost, price) if self.largest else cost + price, changed + moved
            row.update(zip(column.features, column.sets(value)))
            own.append(perhaps(value, "a value") if column.levels is None else value)
        cost += max(column.reached(value) for column, value in zip(self.asked, own))
        cost += self.form.of(own) if self.form else 0
        need(all(its.kept(self.columns, own) for its in self.relations + self.rules), "the answer breaks a relation or a rule")
        need(changed <= self.limit, "the answer changes", changed, "columns")
        reached, sure = self.wanted.reached(self.model.added(row))
        return (cost + self.extra, sure, self.wanted.words) if reached else None


# ------------------------------------------------------------------------------------------------------------ the walk


class Box:
    """Cells of each column, as bits, and the leaves that are left of each tree. cost: of its cheapest row.

    way: in which way the goals are to be reached
    """

    def __init__(self, alive, leaves, way):
        self.alive, self.leaves, self.way, self.cost = alive, leaves, way, 0


def rates_of(what, count):
    """The worth of a unit of each score, as whole numbers, and by how many bits to shift them."""
    need(len(what) == count + 1, "not a rate for each goal")
    return [whole(x, 0, BIG, "a rate") for x in what[:-1]], whole(what[-1], 0, 1000, "a shift")


class Walk:
    """The walk through the tree of boxes, step by step, with the messages, rates, toll and taxes that were said last."""

    def __init__(self, question):
        self.q, ways = question, range(len(question.goals))
        self.message, self.rates, self.shift, self.toll = [0] * question.count, [0] * len(question.goals[0]), 0, 0
        self.priced = {}  # of each way: with what is said of taxes, shares, a tangent and rates, and what is paid back
        self.tax, self.share, self.tangent = [], [F(0)] * len(question.columns), ({}, F(0))
        leaves = [range(len(tree.leaves)) for tree in question.trees]
        self.open = [self.narrowed(Box(list(question.alive), leaves, way)) for way in reversed(ways)]

    def step(self, kind, what):
        if kind == "end":
            self.end(self.open.pop(), what)
        elif kind == "split":
            self.open += self.parts(self.open.pop(), *what)
        elif kind == "drop":
            self.drop(self.open[-1])
        elif kind == "say":
            self.say(*what)
        elif kind == "rate":
            self.rates, self.shift = rates_of(what, len(self.rates))
            self.priced = {} if any(self.q.slopes) else self.priced
        elif kind in ("tax", "share", "tangent"):
            setattr(self, kind, getattr(self.q, kind)(what))
            self.priced = {}
        else:
            need(kind == "toll" and self.q.counted, "an unknown step, or a toll without a limit:", shown(kind))
            self.toll = whole(what, 0, BIG, "a toll")

    def parts(self, box, j, cells):
        """The parts of a box; the one that comes first stands last. Together they are the box, whatever `cells` are."""
        whole(j, 0, len(self.q.columns), "a column")
        first = int(cells, 16) if type(cells) is str else (1 << whole(cells, 0, len(self.q.price[j]) + 1, "a cut")) - 1
        need(0 < box.alive[j] & first < box.alive[j], "a split leaves no cell in a part")
        for some in ~first, first:
            yield self.narrowed(Box([a & some if i == j else a for i, a in enumerate(box.alive)], box.leaves, box.way))

    def say(self, shift, *pairs):
        whole(shift, 0, 200, "a shift")
        need(len(pairs) % 2 == 0, "a gap without a message")
        at = 0
        for gap, value in zip(pairs[::2], pairs[1::2]):
            at = whole(at + whole(gap, 0, BIG, "a gap"), 0, self.q.count, "a block")
            self.message[at] = whole(value, 0, BIG >> shift, "a message") << shift  # never below 0: the bound needs it

    def prices(self, way):
        """What cells cost in a way, and what is paid back."""
        if way not in self.priced:
            its = self.tax, self.share, self.tangent, self.q.gain(way, self.rates, self.shift)
            self.priced[way] = self.q.taxed(*its)
        return self.priced[way]

    def cheapest(self, j, cells):
        return min((min(self.q.price[j][a:b]) for a, b in runs(cells)), default=self.q.bound)

    def narrowed(self, box):
        """Leave out cells and leaves whose rows all cost too much, or change too many columns."""
        q, more = self.q, True
        while more:
            least = [self.cheapest(j, cells) for j, cells in enumerate(box.alive)]
            must = sum(not cells & home for cells, home in zip(box.alive, q.home))
            box.cost = sum(least) if must <= q.limit else q.bound
            if box.cost >= q.bound:
                return box
            for j, alive in enumerate(box.alive):
                if must == q.limit and alive & q.home[j]:
                    box.alive[j] = q.home[j]
                spare = q.bound - box.cost + least[j]
                for a, b in runs(box.alive[j]):
                    box.alive[j] -= sum(1 << c for c in range(a, b) if q.price[j][c] >= spare)
            more = leave_out(q.never, box.alive, lambda j, cells, its: cells & ~its)
        known, leaves, spare, room = {}, [], q.bound - box.cost, q.limit - must
        for tree, mine in zip(q.trees, box.leaves):
            extra, more = {}, {}
            for e in set().union(*[tree.leaves[i][1] for i in mine]):
                j, cells, _ = tree.entries[e]
                inside = box.alive[j] & cells
                if (j, inside) not in known:
                    known[j, inside] = self.cheapest(j, inside) - least[j] if inside else q.bound
                extra[e] = known[j, inside]
                more[e] = bool(box.alive[j] & q.home[j] and not inside & q.home[j])
            asked = [(i, tree.leaves[i][1]) for i in mine]
            leaves.append([i for i, its in asked if sum([extra[e] for e in its]) < spare and sum([more[e] for e in its]) <= room])
        box.leaves = leaves
        return box

    def nobody(self, box):
        """Whether no row is in the box, or none that costs less than the claim."""
        return box.cost >= self.q.bound or not all(box.alive) or not all(box.leaves)

    def bound(self, box):
        """The bound of the messages, and what each cell costs its column and each leaf its tree, with the least of each."""
        q, way, columns, trees = self.q, box.way, [], []
        prices, back = self.prices(way)
        ends = self.ends(box) if q.wanted.mean else ((), ())
        total = (sum(map(mul, self.rates, q.goals[way])) - q.curve(self.rates, *ends)) >> self.shift
        slope = [[0] * (len(price) + 1) for price in q.price]  # differences of neighbouring cells
        for tree, mine in zip(q.trees, box.leaves):
            used = set().union(*[tree.leaves[i][1] for i in mine])
            told = {j for j, cells, _ in map(tree.entries.__getitem__, used) if box.alive[j] & ~cells}
            paid = {}
            for j in told:
                for n, cells, parts in tree.blocks[j]:
                    if cells & box.alive[j]:
                        paid[n] = m = self.message[n]
                        for a, b in parts if m else ():
                            slope[j][a] -= m
                            slope[j][b] += m
            entry = {e: min([paid[n] for n in tree.entries[e][2] if n in paid], default=0) for e in used}
            leaf = [-sum(map(mul, self.rates, tree.leaves[i][0][way])) >> self.shift for i in mine]
            leaf = [score + sum([entry[e] for e in tree.leaves[i][1]]) for score, i in zip(leaf, mine)]
            trees.append((min(leaf), leaf))
            total += trees[-1][0]
        for j, price in enumerate(prices):
            now, cell = 0, {}
            for c, change in enumerate(slope[j][:-1]):
                now += change
                if box.alive[j] >> c & 1:
                    cell[c] = price[c] + now + (0 if q.home[j] >> c & 1 else self.toll)
            columns.append((min(cell.values()), cell))
            total += columns[-1][0]
        return total - self.toll * q.limit - back, columns, trees

    def ends(self, box):
        """The least and the most that the leaves, and the numbers, of a box add up to towards each goal."""
        each = [[tree.leaves[i][0][box.way] for i in mine] for tree, mine in zip(self.q.trees, box.leaves)]
        sums = [[sum(map(end, its)) for its in zip(*[zip(*one) for one in each])] for end in (min, max)]
        for j, slopes in self.q.slopes[box.way].items():
            ends = [x for a, b in runs(box.alive[j]) for c in range(a, b) for x in self.q.columns[j].span(c)]
            each = [[slope * x for x in ends] for slope in slopes]
            sums = [[x + min(its) // self.q.grain for x, its in zip(sums[0], each)],
                    [x + up(max(its), self.q.grain) for x, its in zip(sums[1], each)]]  # fmt: skip
        return sums

    def drop(self, box):
        """Leave out the cells and leaves whose own bound reaches the claim."""
        if self.nobody(box):
            return
        total, columns, trees = self.bound(box)
        spare = self.q.bound - total
        for j, (least, cell) in enumerate(columns):
            box.alive[j] = sum(1 << c for c, p in cell.items() if p - least < spare)
        box.leaves = [[i for i, p in zip(mine, leaf) if p - least < spare] for mine, (least, leaf) in zip(box.leaves, trees)]
        self.narrowed(box)

    def end(self, box, why):
        if self.nobody(box):
            return
        if why == "score":
            most = self.ends(box)[1]
            need(self.q.misses(most, box.way), "the best leaves of the box reach every goal:", most)
        elif why == "dual":
            total = self.bound(box)[0]
            need(total >= self.q.bound, f"the messages prove {roughly(F(total, self.q.bound), 9)} of the claim")
        else:
            raise Wrong(f"an end of {shown(why)}; the cheapest row costs {roughly(F(box.cost, self.q.bound), 9)} of the claim")


# ----------------------------------------------------------------------------------------- the walk for linear models


class Term:
    """What a column adds to a weighted sum, and what that costs.

    A part of it is some levels, as bits, or (above, most, whether it may stay, whether it may change to a number in between).
    adds (levels, sums), slope, base (sums): what it adds to each sum, and takes from each limit of a relation
    none (sums): what it adds if it is missing, as it is now
    size (sums): the most that it can add, in size; off (sums): by how much the pipeline before it may be off
    """

    def __init__(self, column, model, limits):
        sums = range(len(model.starts))
        weights = [model.weights[f] if f < len(model.weights) else [F(0)] * len(sums) for f in column.features]
        need(column.now is None or column.price[-1] is None or not column.lost, column.name, "may become missing, before weights")
        self.column, self.levels = column, column.levels is not None
        if self.levels:
            self.adds = [[sum(w[k] * x for w, x in zip(weights, inputs)) for k in sums] for inputs in column.inputs]
            self.all = sum(1 << k for k, price in enumerate(column.price) if price is not None)
            largest = [max(map(abs, its)) for its in zip(*column.inputs)]
            self.size, self.off = [sum(abs(w[k]) * x for w, x in zip(weights, largest)) for k in sums], [F(0) for _ in sums]
            for k, its in enumerate(self.adds):
                its += [-limit[k] if limit else F(0) for limit in limits]
        else:
            weight = [sum(w[k] for w in weights) for k in sums]
            self.slope, self.base, self.off = ([w * x for w in weight] for x in column.line)
            self.off = list(map(abs, self.off))
            self.all = -INF, INF, column.stay, True
            need(not (column.radius and column.lost), column.name, "may be missing, and is shifted, before weights")
            lone = column.now is not None or not column.stay or not any(limits)
            need(lone, column.name, "may stay missing, in a relation before weights")
            self.none = [sum(w[k] * x for w, x in zip(weights, column.inputs[-1] if column.lost else ())) for k in sums]
            self.size = [
                abs(a) * column.far + abs(b) + off + abs(n) for a, b, off, n in zip(self.slope, self.base, self.off, self.none)
            ]
            self.slope, self.base = [*self.slope, *[-limit for limit in limits]], [*self.base, *[F(0)] * len(limits)]

    def parts(self, part, at):
        """Two parts that are all of a part together: levels of a mask, a number that stays, or one that is at most `at`."""
        if self.levels:
            return part & int(at, 16), part & ~int(at, 16)
        above, most, stay, change = part or (0, 0, False, False)
        if at == "stay":
            return (above, most, stay, False), (above, most, False, change)
        cut = real(at, "a cut")
        return self.without(part, (cut, INF, False)), self.without(part, (-INF, cut, False))

    def without(self, part, its):
        """What is left of a part without a set, or more; nothing if the set holds all of it."""
        if self.levels:
            return part & ~its
        above, most, stay, change = part or (0, 0, False, False)
        begins, ends = max(above, self.column.low) > its[0] or above == its[0], min(most, self.column.high) <= its[1]
        stay, change = stay and not self.column.lies(self.column.now, its), change and not (begins and ends)
        above = max(above, its[1]) if begins else above
        most = min(most, its[0]) if ends and not begins else most
        return (above, most, stay, change) if stay or change else ()

    def gain(self, value, worth):
        """What a value adds, if a unit of each sum is worth so much."""
        if self.levels or value is None:
            return sum(map(mul, worth, self.none if value is None else self.adds[value]))
        return sum(map(mul, worth, self.slope)) * value + sum(map(mul, worth, self.base))

    def least(self, part, worth, free, share=0, tilt=0):
        """The least of price - gain if the column stays, and if it changes, each with its value; None if it may not.

        share: of what is reached, which is added to prices; tilt: what a unit of the number costs besides
        """
        c = self.column.dearer(share)
        if self.levels:
            its = [(c.price[k] * (not free) - self.gain(k, worth), k) for k in range(len(self.adds)) if part >> k & 1]
            return [min([x for x in its if (x[1] == c.now) == stays], default=None) for stays in (True, False)]
        above, most, may_stay, may_change = part or (0, 0, False, False)
        slope, base = (sum(map(mul, worth, its)) for its in (self.slope, self.base))
        found = c.least(max(above, c.low), min(most, c.high), tilt - slope, free) if may_change else None
        stay = (tilt * (c.now or 0) - self.gain(c.now, worth), c.now) if may_stay else None
        return stay, found and (found[0] - base, found[1])

    def start(self, part, free):
        """The cheapest value of a part, and its price; None if there is none."""
        c = self.column
        if self.levels:
            its = [(F(0) if free else c.price[k], k != c.now, k) for k in range(len(self.adds)) if part >> k & 1]
            return min(its, default=None) and min(its)[::-2]
        need(c.now is not None, "a number of", c.name, "that is missing, before a network")
        if not part or part[2]:
            return (c.now, F(0)) if part else None
        low, high = self.ends(part)
        return (min(max(c.start, low), high), c.paid(min(max(c.start, low), high), free)) if part[3] and low <= high else None

    def ends(self, part):
        """Between which numbers a change lies, with what may be off of a grid."""
        c, (low, high) = self.column, (max(part[0], self.column.low), min(part[1], self.column.high))
        if c.step and low <= high:
            first, last, blur = c.steps(low, high)
            low, high = c.anchor + first * c.step - blur, c.anchor + last * c.step + blur
        return low, high

    def directions(self, j, part, start, price, spare, free):
        """How a part leaves its start, if so much of the claim is left. A fee is spread over the longest way."""
        c = self.column
        if self.levels:
            for k in range(len(self.adds)):
                more = F(0) if free else (c.price[k] or 0) - price
                if part >> k & 1 and k != start and (free or more < spare):
                    yield Direction(j, k, start, more / spare or F(1), more / spare or F(1), more == 0)
            return
        low, high = self.ends(part) if part[3] else (start, start)
        low, high = (low, high) if low <= high else (start, start)
        for side, far in (1, high - start), (-1, start - low):
            rate = F(0) if free else c.rate + 2 * c.square * abs(start - c.start)
            if part[2] and not free:
                far = min(far, (spare - c.fee) / rate) if rate else far if spare > c.fee else F(0)
                far = min(far, F(isqrt(int(spare / c.square * (1 << 200))) + 1, 1 << 100)) if c.square else far
                rate += c.fee / far if far > 0 else 0
            if far > 0:
                scale = spare / rate if rate else far
                yield Direction(j, side, start, scale, min(far / scale, F(1)), rate == 0)

    def gain_of(self, value, k):
        """What a value adds to a sum."""
        return self.adds[value][k] if self.levels else self.slope[k] * value + self.base[k]

    def gain_along(self, way, k):
        """What all of a direction adds to a sum."""
        if self.levels:
            return (self.adds[way.side][k] - self.adds[way.start][k]) / way.scale
        return self.slope[k] * way.side * way.scale

    def least_tilted(self, part, worth, free, start, tilted):
        """`least` over the start of a part and its directions, of which each share is worth something, too."""
        c = self.column
        if self.levels:
            each = [(start, F(0)), *[(its.side, its.scale * slope) for its, slope in tilted]]
            its = [(c.price[k] * (not free) - self.gain(k, worth) - more, k) for k, more in each]
            return [min([x for x in its if (x[1] == c.now) == stays], default=None) for stays in (True, False)]
        slope, base = (sum(map(mul, worth, its)) for its in (self.slope, self.base))
        found = [c.least(start, start, -slope, free)] if part[3] else []
        for its, more in tilted:
            far, steep = start + its.side * its.scale * its.cap, its.side * more / its.scale
            best = c.least(min(start, far), max(start, far), -slope - steep, free)
            found.append(best and (best[0] + steep * start, best[1]))
        found = [(best[0] - base, best[1]) for best in found if best]
        return (-self.gain(c.now, worth), c.now) if part[2] else None, min(found, default=None)


class LinearWalk:
    """The walk for weighted sums. A box is a part of each column, and a way. No row of it that reaches the goals costs less than

    rates x goals + the sum over columns of their least (price - rates x gains), where as many columns change as may.
    """

    def __init__(self, question):
        self.q, self.terms, sums = question, question.terms, len(question.model.starts)
        self.kept = [Goal(sums + k, 0, -most, -most, False) for k, (_, most) in enumerate(question.limits)]
        self.mean, self.logits = question.wanted.mean, len(question.ways[0])
        self.reach = [F(0)] * self.logits  # what a unit of each logit is taken to cost, where its ends are looked for
        self.rates = [F(0)] * (max(map(len, question.ways)) + len(self.kept) + bool(self.mean))  # a shorter way has fewer
        self.share, self.tangent = [F(0)] * len(self.terms), ({}, F(0))
        self.rules = [rule.parts for rule in question.rules]
        box = self.narrowed([term.all for term in self.terms])
        self.open = [(box, way + self.kept) for way in reversed(question.ways)]

    def step(self, kind, what):
        if kind == "rate":
            rates, shift = rates_of(what, len(self.rates))
            self.rates = [F(rate, 1 << shift) for rate in rates]
        elif kind in ("share", "tangent"):
            setattr(self, kind, getattr(self.q, kind)(what))
        elif kind == "reach" and self.mean:
            rates, shift = rates_of(what, self.logits)
            self.reach = [F(rate, 1 << shift) for rate in rates]
        elif kind == "split":
            j, (box, *rest) = whole(what[0], 0, len(self.terms), "a column"), self.open.pop()
            for part in self.terms[j].parts(box[j], what[1])[::-1]:
                self.open.append((self.narrowed([part if i == j else its for i, its in enumerate(box)]), *rest))
        else:
            need((kind, what) == ("end", "dual"), "an unknown step:", shown(kind))
            found = self.bound(*self.open.pop(), self.rates)
            need(found is None or found[0] >= self.q.below, "the rate does not prove the claim")

    def narrowed(self, box):
        while leave_out(self.rules, box, lambda j, part, its: self.terms[j].without(part, its)):
            pass
        return box

    def bound(self, box, way, rates):
        """The bound of rates, and the value of each column that it comes from; None if nobody is in the box."""
        worth, (slopes, back) = self.worth(rates, way, len(self.q.model.starts + self.q.limits)), self.tangent
        each = enumerate(zip(self.terms, box, self.share))
        found = self.together([its.least(part, worth, self.q.none, x, slopes.get(j, 0)) for j, (its, part, x) in each])
        if found is None:
            return None
        total, values = sum(map(mul, rates, [goal.least for goal in way])) + found[0] - back, found[1]
        if self.mean:
            ends = list(self.ends(box, way))
            if any(high < low for low, high in ends):
                return None
            total += rates[-1] * self.mean[0]
            each = zip(self.q.wanted.curves, rates, ends)
            total -= sum(curve.above(rates[-1], rate * GRAIN, 0, *its, GRAIN) for curve, rate, its in each)
        return total, values

    @staticmethod
    def worth(rates, way, sums):
        """What a unit of each sum is worth, if a unit of each goal is."""
        worth = [F(0)] * sums
        for rate, goal in zip(rates, way):
            worth[goal.plus], worth[goal.less] = worth[goal.plus] + rate, worth[goal.less] - rate
        return worth

    def together(self, each):
        """What columns cost at least together, where as many change as may, and their values; None if nobody is there.

        each: the least of a column if it stays, and if it changes, each with its value; None if it may not
        """
        total, values, savings, room = F(0), [], [], self.q.limit
        for j, (stay, change) in enumerate(each):
            if stay is None and change is None:
                return None
            room -= stay is None
            total += (stay or change)[0]
            values.append((stay or change)[1])
            if stay is not None and change is not None:
                savings.append((change[0] - stay[0], j, change[1]))
        for saving, j, value in sorted(savings)[: max(room, 0)]:
            if saving < 0:
                total, values[j] = total + saving, value
        return (total, values) if room >= 0 else None

    def ends(self, box, way):
        """The least and the most, in grains, that each logit may be in a box for rows that cost less than the claim.

        If a unit is taken to cost u, then u x gain <= claim - the sum over columns of their least (price - u x gain).
        """
        for goal, reach in zip(way, self.reach):
            unit, ends = reach or F(1), []
            for sign in (-1, 1):
                worth = [F(0)] * len(self.q.model.starts + self.q.limits)
                worth[goal.plus], worth[goal.less] = sign * unit, -sign * unit
                each = [term.least(part, worth, self.q.none or not reach) for term, part in zip(self.terms, box)]
                most = self.q.below * (reach > 0) - sum(min(x[0] for x in its if x) for its in each)
                ends.append((sign * most / unit - goal.least) / GRAIN)
            yield ends


# -------------------------------------------------------------------------------------------------- the walk for networks

PARTS = 1 << 30  # a share between two lines is so many of these

Direction = namedtuple("Direction", "column side start scale cap free")
"""How a row leaves where its box starts: one column, by a share of `scale`, its side up (1) or down (-1); or to level `side`.

cap: the largest share. free: whether it costs nothing. Else a share costs at least as much of what is left of the claim.
"""

Unit = namedtuple("Unit", "least most steep over")
"""Between which ends what reaches a unit lies. If 0 is between them: how steep the line is that lies above both ends, and a line
above what it passes on, as a function of the shares."""


def scaled_up(line, factor):
    """A line times a fraction that is at least 0, or a line above that."""
    return [-(-x * factor.numerator // factor.denominator) for x in line]


def opposite(line):
    return [-x for x in line]


class NetworkWalk(LinearWalk):
    """The walk for networks. A box is a part of each column, a way, and on which side of 0 some units are.

    A line is a function of the shares of directions, at least 0: what it is where the box starts, and what each adds. In a box,
    each sum lies between two lines. For rates r of the goals and any lines, no row that reaches the goals costs less than

        r x goals + the sum over columns of their least (price - r x what lies above what is wanted).

    What a unit passes on lies above leak, and 1, times what reaches it. It lies below the line over its ends, and below the line
    through what it is where all of the claim is spent in one direction, because it is convex. `lines` says how much of the second
    is in a mixture of the first two, and of the third in one of the last two. `holds` says what it is worth that the lines above
    are above those below, or that a unit is on its side of 0.
    """

    def __init__(self, question):
        self.layers, self.units = question.model.layers, sum(len(layer.leak) for layer in question.model.layers)
        self.lines, self.holds = [(F(1, 2), F(1, 2))] * self.units, [F(0)] * self.units
        self.first, self.seen = (None, None), (None, None, None)
        super().__init__(question)
        self.open = [(box, way, {}) for (box, _), way in zip(self.open, question.ways[::-1])]

    def step(self, kind, what):
        if kind == "lines":
            self.say(self.lines, what, lambda its: tuple(F(whole(x, 0, PARTS + 1, "a share"), PARTS) for x in its))
        elif kind == "holds":
            shift = whole(what[0], 0, 1000, "a shift")
            self.say(self.holds, what[1:], lambda its: F(whole(*its, 0, BIG, "a worth"), 1 << shift))
        elif kind == "unit":
            n, (box, way, sides) = whole(what, 0, self.units, "a unit"), self.open.pop()
            need(n not in sides, "a unit that is on one side already")
            self.open += [(box, way, {**sides, n: side}) for side in (-1, 1)]
        else:
            super().step(kind, what)

    def say(self, state, told, read):
        """Say something of some units: the gap to each from the one before, and what it is."""
        at = 0
        for gap, *its in told:
            at = whole(at + whole(gap, 0, BIG, "a gap"), 0, self.units, "a unit")
            state[at] = read(its)

    def most(self, line, directions):
        """The most that a line is: one share may be spent in all, and each column moves freely in one direction."""
        total, left, free = line[0], SHARE, {}
        priced = []
        for slope, its in zip(line[1:], directions):
            if slope > 0 and its.free:
                free[its.column] = max(free.get(its.column, 0), slope)
            elif slope > 0:
                priced.append((slope, up(its.cap, F(1, SHARE))))
        for slope, cap in sorted(priced, reverse=True):
            total, left = total - (-slope * min(cap, left) >> FINE), left - min(cap, left)
        return total + sum(free.values())

    def over(self, line, leak, directions):
        """A line above what a unit passes on of at most a line: where all is spent in one direction, it is what it is there."""

        def passed(x):
            return x if x > 0 else -(-x * leak.numerator // leak.denominator)

        start = passed(line[0])
        each = zip(line[1:], directions)
        return [start, *[max(x, 0) if its.free else passed(line[0] + x) - start for x, its in each]]

    def begun(self, box):
        """Where a box starts, the directions in which rows below the claim leave it, the first sums; None if there are none."""
        if self.first[0] is not box:
            self.first = box, self.begin(box)
        return self.first[1]

    def begin(self, box):
        starts = [term.start(part, self.q.none) for term, part in zip(self.terms, box)]
        if None in starts:
            return None
        spare = self.q.below - sum(price for _, price in starts)
        if spare <= 0:
            return None
        each, lines = enumerate(zip(self.terms, box, starts)), []
        directions = [d for j, (term, part, its) in each for d in term.directions(j, part, *its, spare, self.q.none)]
        for k, base in list(enumerate(self.q.model.starts))[1:]:
            at = base + sum(term.gain_of(value, k) for term, (value, _) in zip(self.terms, starts))
            lines.append([at, *[self.terms[its.column].gain_along(its, k) for its in directions]])
        return starts, directions, lines

    def reached(self, box, sides):
        """The units of a box, layer by layer; None if nobody is in it."""
        if self.seen[0] is not box or self.seen[1] is not sides:
            self.seen = box, sides, self.looked_at(box, sides)
        return self.seen[2]

    def looked_at(self, box, sides):
        found = self.begun(box)
        if found is None:
            return None
        (_, directions, lines), n, units = found, 0, []
        high, low = [[up(x, NEAR) for x in line] for line in lines], [[-up(-x, NEAR) for x in line] for line in lines]
        ends = [(-INF, INF)] * len(lines)
        for layer in self.layers:
            its = [self.unit(*each, sides.get(n + k), directions) for k, each in enumerate(zip(layer.leak, low, high, ends))]
            if None in its:
                return None
            n += len(its)
            units.append([unit for unit, *_ in its])
            _, below, above, least, most = zip(*its)
            high, low = layer.above(below, above), list(map(opposite, layer.above(below, above, -1)))
            ends = [(-b, a) for (a,), (b,) in zip(layer.above(least, most), layer.above(least, most, -1))]
        return units

    def unit(self, leak, low, high, ends, side, directions):
        """What is known of a unit, the lines below and above what it passes on, and its ends; None if it cannot be."""
        least, most = max(ends[0], -self.most(opposite(low), directions)), min(ends[1], self.most(high, directions))
        least, most = max(least, 0) if side == 1 else least, min(most, 0) if side == -1 else most
        if least > most:
            return None
        first, last = (x * (leak if x < 0 else 1) for x in (F(least), F(most)))
        passed = [-up(-first)], [up(last)]
        if least < 0 < most and leak < 1:
            steep = F(up((most - leak * least) / (most - least), GRAIN)) * GRAIN
            chord = scaled_up([high[0] - least, *high[1:]], steep)
            chord[0] += up(leak * least)
            over = self.over(high, leak, directions)
            slope = F(1) if most > -least else leak
            return Unit(least, most, steep, over), opposite(scaled_up(opposite(low), slope)), min(over, chord), *passed
        slope = F(1) if least >= 0 else leak
        return Unit(least, most, slope, None), opposite(scaled_up(opposite(low), slope)), scaled_up(high, slope), *passed

    def bound(self, box, way, sides, rates):
        """The bound of rates and lines, and the value of each column that it comes from; None if nobody is in the box."""
        units = self.reached(box, sides)
        if units is None:
            return None
        (starts, directions, _), n, more, over = self.begun(box), self.units, [], []
        total = sum(map(mul, rates, [goal.least for goal in [*way, *self.kept]]))
        worth = self.worth(rates, way, len(self.q.model.base))[1:]
        for layer, its in zip(self.layers[::-1], units[::-1]):
            total -= sum(map(mul, worth, layer.base)) * (layer is not self.layers[-1])  # goals begin at the last ones
            worth, n = layer.back(worth), n - len(its)
            for k, (unit, leak) in enumerate(zip(its, layer.leak)):
                hold, (low, high) = self.holds[n + k], self.lines[n + k]
                if unit.over is None:
                    worth[k] = worth[k] * unit.steep + sides.get(n + k, 0) * hold
                    continue
                above, below = (hold + max(way * worth[k], 0) for way in (1, -1))
                worth[k] = above * high * unit.steep - below * (leak + (1 - leak) * low)
                total -= above * high * (leak - unit.steep) * unit.least * NEAR
                more.append(above * (1 - high))
                over.append(unit.over)
        more, scale = in_whole_numbers(more)
        tilt = [F(sum(map(mul, more, each)), scale) * NEAR for each in zip(*over)] or [F(0)] * (1 + len(directions))
        worth = [F(0), *worth, *[F(0)] * len(self.q.limits)]
        total -= tilt[0] + sum(map(mul, worth, self.q.model.starts))
        worth = [x + y for x, y in zip(worth, self.worth(rates[len(way) :], self.kept, len(worth)))]
        tilted = [[] for _ in self.terms]
        for its, slope in zip(directions, tilt[1:]):
            tilted[its.column].append((its, slope))
        each = zip(self.terms, box, starts, tilted)
        found = self.together([term.least_tilted(part, worth, self.q.none, start, its) for term, part, (start, _), its in each])
        return found and (total + found[0], found[1])


# ------------------------------------------------------------------------------------------------------------- a proof


def opened(path):
    need(os.path.getsize(path) <= LARGEST_FILE, path, "is larger than", LARGEST_FILE, "bytes")
    with open(path, "rb") as file:
        return file.read()


def beside(path, name, sha256):
    """The file of a name beside a proof, if it is the one that was meant."""
    need(type(name) is str and name == os.path.basename(name) and name not in ("", ".", ".."), "no name of a file:", shown(name))
    data = opened(os.path.join(os.path.dirname(path), name))
    need(hashlib.sha256(data).hexdigest() == sha256, name, "is another one, or was changed")
    return data


def recorded(rows, model, wanted=None):
    """Compare the sums of recorded rows with what the estimator said, also of what is wanted, and others asked together."""
    for inputs, said in rows:
        row = [model.read(perhaps(x, "an input")) for x in inputs]
        added, sizes = model.added(row), list(zip(*[[abs(w * x) for w in its] for its, x in zip(model.weights, row)]))
        doubts = model.passed_on(sizes, [F(0)] * len(model.starts)) if model.weights else model.doubted(
            [[abs(x * (row[f] or 0)) for x in its] for f, its in model.slopes.items()])  # fmt: skip
        if type(said) is dict and "met" in said:  # whether the estimator gives the row what is wanted
            may, sure = Wanted.of(model, wanted, doubts).reached(added)
            need(type(said["met"]) is bool and (may if said["met"] else not sure), "a recorded row gets something else")
            continue
        each = said["each"] if model.others else [said]
        need(len(each) == len(model.parts), "not what each model said")
        for part, its in zip(model.parts, each):
            says(part, part.own(added), part.own(doubts), its)
    return len(rows)


def says(model, added, doubts, said):
    """Compare sums with what an estimator said: of class 1, or of each class, or the probabilities, or the class alone."""
    if type(said) is dict and "class" in said:
        may, _ = Wanted(model, {"of": ["class", said["class"]]}, doubts).reached(added)
        need(may, "a recorded row has another class")
        return
    its = said["probabilities"] if type(said) is dict else said if type(said) is list else [said]
    told = [real(x, "what was said") for x in its]
    if model.paths:
        least, most = ([b + x + way * d for b, x, d in zip(model.base, added, doubts)] for way in (-1, 1))
        near = [value for way, value in model.paths if all(most[plus] >= least[less] for plus, less in way)]
        need(told in near, "a recorded row comes to another leaf")
    elif type(said) is dict:
        likely(model, added, doubts, told)
    elif model.kind == "stack":
        each = zip(model.curves, model.base[1:], added[1:], doubts[1:])
        ends = [c.ends(b + x - d) + c.ends(b + x + d) for c, b, x, d in each]
        least, most = (model.end[0] + sum(map(end, ends)) + way * model.end_off() for end, way in ((min, -1), (max, 1)))
        need(len(told) == 1 and least <= told[0] <= most, "a recorded row has another score")
    else:
        need(len(told) == (model.classes if model.classes > 2 else 1), "not a score for each class")
        for k, x in enumerate(told, len(added) - len(told)):
            off = abs((model.base[k] + added[k]) / model.over - x)
            need(off <= doubts[k] / model.over + F(1, 1 << 70), f"a recorded row has another score: off by {roughly(off)}")


def likely(model, added, doubts, said):
    """Compare sums of trees with probabilities: how much more likely each class is than the first."""
    need(model.kind in ("logistic", "mean", "largest") and len(said) == model.classes, "not a probability for each class")
    off, first = (14 + len(model.base) if model.kind == "mean" else 16) * model.step, model.first
    need(min(said) >= 0 and sum(said) <= 1 + len(said) * off, "no probabilities")
    if model.kind == "mean":
        its = list(zip(model.curves, model.base[1:], added[1:], doubts[1:]))
        total = sum(curve.weight for curve in model.curves)
        least, most = (sum(c.ends(base + x + way * doubt)[way > 0] for c, base, x, doubt in its) / total for way in (-1, 1))
        need(least - off <= said[1] <= most + off, "a recorded row has another probability")
        return
    for k, p in enumerate(said[1:], first + 1):
        apart, doubt = model.base[k] + added[k] - model.base[first] - added[first], doubts[k] + doubts[first]
        least = logit((p - off) / (p + said[0]))[0] if p > off else -INF
        most = logit((p + off) / (p + said[0]))[1] if said[0] > off else INF
        need(least - doubt <= apart <= most + doubt, "a recorded row has another probability")


def walk_of(question):
    """The walk for a question."""
    return (NetworkWalk if question.model.layers else LinearWalk if question.model.weights else Walk)(question)


def verify(lines, shared):
    """What the lines of a proof say, in words, if it is true. Raises `Wrong` if it is not proven.

    shared: what is shared for each of the targets of which one is wanted, with what that costs by itself
    """
    need(len(lines) > 1, "the proof has no end")
    own, last = parsed(lines[0]), parsed(lines[-1])
    need(own["format"] == "butfor.proof/1", "another format of a proof:", shown(own["format"]))
    footer = {"steps": len(lines) - 2, "sha256": hashlib.sha256("\n".join(lines[:-1]).encode()).hexdigest()}
    need(last == footer, f"line {len(lines)}: the proof was cut, joined or changed: its footer does not fit")
    return proven(asked(shared, own), own, lines)


def asked(shared, own):
    """The question about each of the targets of which one is wanted."""
    return [Question(its, own, extra) for extra, its in shared]


def proven(questions, own, lines):
    """What the lines of a proof say about questions that were read from the first of them. They are answered in turn."""
    found = [] if own["answer"] is None else [its for its in (one.answer(own["answer"]) for one in questions) if its]
    need(found or own["answer"] is None, "the answer is refused")
    walks, steps = [walk_of(question) for question in reversed(questions) if not question.done], Counter()
    for number, line in enumerate(lines[1:-1], 2):
        try:
            while walks and not walks[-1].open:
                walks.pop()
            ((kind, what),) = parsed(line).items()
            need(walks, "a step after the end")
            walks[-1].step(kind, what)
            steps[what if kind == "end" else kind] += 1
        except Exception as error:
            raise Wrong(f"line {number}: {told(error)}") from None
    left = sum(len(walk.open) for walk in walks)
    need(not left, "the proof ends before", left, "boxes are done")
    return "\n".join(words_of(questions, own, min(found, default=None), steps))


SHIFTS = {
    "linf": "Shifted by up to so much, all at once",
    "l1": "Shifted by shares of this that add up to 1",
    "l2": "Shifted by shares of this whose squares add up to 1",
}


def words_of(questions, own, found, steps):
    """The whole claim in words, from what was checked."""
    question, below = questions[0], perhaps(own["below"], "the bound")
    wanted = " or ".join(one.wanted.words for one in questions)
    yield f"Row {shown(own['row'])}"
    for column in question.asked:
        yield "  " + column.said()
    yield from ["  The cost of a row is the price of its dearest change, not the sum."] * question.largest
    yield from question.added_words()
    yield from [f"  At most {question.limit} of them change."] * question.counted
    yield from ["  " + its.said(question.columns) for its in question.relations + question.rules]
    if question.norm:
        shifts = ", ".join(f"{c.name} by {digits(c.radius)}" for c in question.columns if c.radius)
        same = " (the same class everywhere)" * (len(question.wanted.ways) > 1)
        yield f"  {SHIFTS[question.norm]}, rows are to keep what is wanted{same}: {shifts}."
    if any(one.extra for one in questions):
        each = ", ".join(f"{one.wanted.words} {digits(one.extra)}" for one in questions)
        yield f"  What a row gets is added to its cost: {each}."
    if found is not None:
        cost, sure, got = found
        changes = [f"{c.name} becomes {c.word(v)}" for c, v in zip(question.asked, own["answer"]) if c.takes(v)[1]]
        yield f"  The answer: {', '.join(changes) or 'nothing changes'}. It costs {digits(cost)}."
        near = " (whether also near it, this proof does not say)" * (question.norm is not None)
        yield f"  {'The' if sure else 'Within the rounding of sums, the'} estimator gives it {got}{near}."
    ends = ", ".join(f"{n} {kind}" for kind, n in sorted(steps.items()))
    near = f" (the answer's, less {roughly(1 - below / found[0], 2)} of it)" if found and below else ""
    claim = f" that costs less than {digits(below)}{near}," if below else ""
    keeps = " and keeps it near" * (question.norm is not None)
    yield f"VERIFIED: no admissible row{claim} gets {wanted}{keeps}. ({ends})"


LIMITS = """What this rests on:
  - the estimator computes what its file says: {of}, {terms}, SHA-256 {sha}
  - it reads values as {reads}, compares as its documentation says, and adds in IEEE arithmetic, in any order
    (its sums may be off by {doubt}; rows that it may take within that count as taken)
  - columns become the features of the model as the question file says (levels, and numbers that a pipeline changes)
  - prices, ranges and levels above are those that were asked for; no value is missing but where they say so
  - {recorded} recorded rows have the recorded scores
Not needed: whoever made the proof, how it was found, and any library."""


def check(path, known):
    """Check one proof. `known` holds what was read for the proofs before."""
    lines = opened(path).decode("utf-8").rstrip("\n").split("\n")
    own = parsed(lines[0])
    name, sha256 = own["question"]
    if (name, sha256) not in known:
        told = parsed(beside(path, name, sha256))
        about = told["model"]
        model = Model(about["kind"], beside(path, about["file"], about["sha256"]))
        shared = either(told, model)
        rests = LIMITS.format(
            of=shown(about["of"]), sha=about["sha256"], reads="float32" if model.single else "float64",
            terms=size_of(model),
            doubt="units of their last digits" if model.weights else at_most(max(model.doubts)),
            recorded=recorded(told["recorded"], model, told["wanted"]),
        )  # fmt: skip
        known[name, sha256] = shared, rests
    return verify(lines, known[name, sha256][0])


def size_of(model):
    units = sum(leak < 1 for layer in model.layers for leak in layer.leak)
    return f"{units} units" if units else f"{len(model.weights)} weights" if model.weights else f"{len(model.trees)} trees"


def proofs_of(path):
    """A proof, or all that lie in a folder."""
    names = sorted(name for name in os.listdir(path) if name.endswith(".proof")) if os.path.isdir(path) else None
    return [path] if names is None else [os.path.join(path, name) for name in names]


def main():
    """Check the proofs that are named, and those of folders; returns the exit code, 0 if all are verified."""
    paths = [proof for path in sys.argv[1:] or print(__doc__) or [] for proof in proofs_of(path)]
    known, failed = {}, []
    for path in paths:
        try:
            print(check(path, known))
        except Exception as error:
            failed.append(f"{path}: NOT VERIFIED: {told(error)}")
            print(failed[-1])
    for _, rests in known.values():
        print(rests)
    if paths[1:] or sys.argv[1:] != paths:
        print("", *failed, f"{len(paths) - len(failed)} of {len(paths)} proofs are VERIFIED.", sep="\n")
    return int(len(failed) > 0 or not paths)


if __name__ == "__main__":
    sys.exit(main())
