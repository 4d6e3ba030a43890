"""Words that DiCE's scripts use for methods, libraries and kinds of models."""

from __future__ import annotations


class BackEndTypes:
    """Libraries of models. butfor finds out itself, so they change nothing."""

    Sklearn = "sklearn"
    Tensorflow1 = "TF1"
    Tensorflow2 = "TF2"
    Pytorch = "PYT"
    ALL = (Sklearn, Tensorflow1, Tensorflow2, Pytorch)


class SamplingStrategy:
    """Methods. All but "kdtree" mean the same: the cheapest answers."""

    Random = "random"
    Genetic = "genetic"
    KdTree = "kdtree"
    Gradient = "gradient"
    ALL = (Random, Genetic, KdTree, Gradient)


class ModelTypes:
    """Whether a model predicts classes or numbers."""

    Classifier = "classifier"
    Regressor = "regressor"
    ALL = (Classifier, Regressor)


class JsonVersions:
    """The two forms of DiCE's JSON."""

    V1 = "1.0"
    V2 = "2.0"
    ALL = (V1, V2)


OPPOSITE = "opposite"
"""The word for the other of two classes."""

EVERY = "all"
"""The word for "every feature may vary"."""
