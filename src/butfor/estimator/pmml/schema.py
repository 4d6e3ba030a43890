"""What a MiningSchema says of the columns: what becomes of missing values, of invalid ones, and of outliers.

A part of a model gets its columns from the outermost one, after what that makes of them. So its own schema must not say
anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

import numpy as np

from butfor.errors import InputError
from butfor.estimator.pmml.elements import attribute, children, ends_of, label_of, name_of, not_read, number_in
from butfor.estimator.pmml.fields import Field, Step
from butfor.estimator.pmml.pieces import InsideEnds

WHERE_INVALID = {"returnInvalid": "refused", "asMissing": "missing", "asIs": "kept"}

ALL_NUMBERS = (-np.inf, np.inf)


def active(schema: Element) -> list[Element]:
    """The columns that a schema has a model take."""
    return [one for one in children(schema, "MiningField") if one.get("usageType", "active") == "active"]


def field_of(data: Element, mining: Element, mentioned: list[str]) -> Field:
    """A column, as the dictionary and the schema describe it. `mentioned`: the values that the file names elsewhere."""
    name, kind, optype = attribute(data, "name"), data.get("dataType", "double"), _optype(data)
    unknown, required = _unknown(name, mining), mining.get("missingValueTreatment") == "returnInvalid"
    if required and (mining.get("missingValueReplacement") is not None or mining.get("outliers") == "asMissingValues"):
        raise not_read(
            f"missingValueTreatment='returnInvalid' of {name!r} beside what is done to missing values", mining
        )
    unknown = "refused" if required and unknown == "missing" else unknown
    valid, instead = _listed(data, unknown), mining.get("missingValueReplacement")
    if optype == "continuous":
        low, high = _valid_ends(data) if unknown == "refused" else ALL_NUMBERS
        replacement = None if instead is None else number_in(mining, "missingValueReplacement")
        return Field(name, None, replacement, unknown, kind == "float", low, high, required)
    names = list(dict.fromkeys(valid or mentioned))
    if not valid:
        unknown = "kept"  # the dictionary lists none, so each is valid
    levels = tuple(label_of(text, kind) for text in names)
    if instead is not None and instead not in names:
        raise InputError(f"{name!r} has the missingValueReplacement {instead!r}.", f"Its values are {names}.")
    return Field(name, levels, None if instead is None else label_of(instead, kind), unknown, required=required)


def first_steps(own: Field, data: Element, mining: Element) -> tuple[Step, ...]:
    """What becomes of the numbers of a column before anything reads them: of invalid ones, then of outliers."""
    invalid = own.levels is None and own.unknown == "missing"
    steps = (*(_within(own, *_valid_ends(data)) if invalid else ()), *_outliers(own, mining))
    return (*steps, ("float", None)) if steps and own.single else steps


def check_parts(model: Element, known: Mapping[str, Element], taken: Mapping[str, Element]) -> None:
    """Refuse a model with a part whose schema treats a column otherwise than the outermost one.

    - `known`: the fields of the dictionary; `taken`: those of the outermost schema.
    """
    for schema in (one for one in model.iter() if name_of(one) == "MiningSchema"):
        for one in active(schema):
            name = attribute(one, "name")
            if name in known and one.get("optype", _optype(known[name])) != _optype(known[name]):
                raise not_read(f"optype={one.get('optype')!r} of {name!r}, otherwise than in the DataDictionary", one)
            other = _differing(one, taken.get(name, Element("MiningField")))
            if other is not None:
                raise not_read(f"{other}={one.get(other)!r} of {name!r}, otherwise than in the outermost model", one)


def _differing(own: Element, outer: Element) -> str | None:
    """The attribute by which a part treats a column otherwise than the outermost model. None: it leaves it as it is."""
    if own.get("missingValueReplacement") not in (None, outer.get("missingValueReplacement")):
        return "missingValueReplacement"
    if own.get("missingValueTreatment") == "returnInvalid" and outer.get("missingValueTreatment") != "returnInvalid":
        return "missingValueTreatment"
    if outer.get("invalidValueTreatment") == "asIs" and own.get("invalidValueTreatment", "asIs") != "asIs":
        return "invalidValueTreatment"  # where the outermost model says anything else, no invalid value reaches a part
    if own.get("outliers", "asIs") == "asIs":
        return None
    return next((name for name in ("outliers", "lowValue", "highValue") if own.get(name) != outer.get(name)), None)


def _optype(data: Element) -> str:
    return data.get("optype", "continuous")


def _unknown(name: str, mining: Element) -> str:
    """What becomes of an invalid value."""
    if mining.get("invalidValueReplacement") is not None:
        raise not_read(f"invalidValueReplacement={mining.get('invalidValueReplacement')!r} of {name!r}", mining)
    unknown = WHERE_INVALID.get(mining.get("invalidValueTreatment", "returnInvalid"))
    if unknown is None:
        raise not_read(f"invalidValueTreatment={mining.get('invalidValueTreatment')!r} of {name!r}", mining)
    return unknown


def _listed(data: Element, unknown: str) -> list[str]:
    """The values that the dictionary lists as valid."""
    name, listed = data.get("name"), list(children(data, "Value"))
    for one in listed:
        lost = one.get("value", "").lower() in ("nan", "", "n/a", "na", "null", "none")
        missing = one.get("property", "valid") == "missing"
        if missing and not lost:
            raise not_read(f"the value {one.get('value')!r} of {name!r} that stands for a missing one", data)
        if not missing and _optype(data) == "continuous" and unknown != "kept":
            raise not_read(f"the list of valid or invalid numbers of {name!r}", data)
    return [attribute(one, "value") for one in listed if one.get("property", "valid") == "valid"]


def _valid_ends(data: Element) -> tuple[float, float]:
    """The first and the last valid number."""
    intervals = list(children(data, "Interval"))
    if len(intervals) > 1:
        raise not_read("several Intervals", data)
    return ends_of(intervals[0]) if intervals else ALL_NUMBERS


def _within(own: Field, low: float, high: float) -> tuple[Step, ...]:
    """Numbers beyond two ends are missing, and so become what stands in place of a missing one."""
    if (low, high) == ALL_NUMBERS:
        return ()
    within = ("within", InsideEnds(low, high))
    return (within,) if own.instead is None else (within, ("instead", float(own.instead)))


def _outliers(own: Field, mining: Element) -> tuple[Step, ...]:
    """What keeps a number between the ends beyond which the schema takes it for an outlier."""
    if mining.get("outliers", "asIs") == "asIs":
        return ()
    low, high = number_in(mining, "lowValue", -np.inf), number_in(mining, "highValue", np.inf)
    how = mining.get("outliers")
    if own.levels is not None or how not in ("asExtremeValues", "asMissingValues"):
        raise not_read(f"outliers={how!r} of {own.name!r}", mining)
    if how == "asMissingValues":
        return _within(own, low, high)
    if own.instead is not None and not low <= own.instead <= high:
        raise not_read(f"a missingValueReplacement of {own.name!r} that is an outlier", mining)
    return ("max", low), ("min", high)
