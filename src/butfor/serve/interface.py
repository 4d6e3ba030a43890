"""The interface as OpenAPI 3.1: what can be asked, and what comes back."""

from __future__ import annotations

from functools import cache
from typing import Any

import butfor
from butfor.serve.asked import LANGUAGES, MOST_ANSWERS, MOST_SECONDS
from butfor.serve.desk import MOST_LISTED

Schema = dict[str, Any]

TEXT_SCHEMA: Schema = {"type": "string"}
NUMBER_SCHEMA: Schema = {"type": "number"}
MAYBE: Schema = {"type": ["number", "null"]}
VALUE: Schema = {"type": ["string", "number", "boolean", "null"]}


def thing(_required: str = "", **properties: Schema) -> Schema:
    """An object with these properties, some of which must be there."""
    return {"type": "object", "properties": properties, **({"required": _required.split()} if _required else {})}


def listed(items: Schema) -> Schema:
    """A list of these."""
    return {"type": "array", "items": items}


def named(name: str) -> Schema:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


ROW: Schema = {
    "oneOf": [
        {"type": "integer", "minimum": 0, "description": "the number of a row of the table"},
        {
            "type": "object",
            "additionalProperties": VALUE,
            "description": "a value for each column; dummies by their own names, or by that of the feature that they are",
        },
    ]
}
COLUMN_ASKED = {
    **thing(
        frozen={"type": "boolean"},
        direction={"enum": ["up", "down"]},
        range={"type": "array", "items": NUMBER_SCHEMA, "minItems": 2, "maxItems": 2},
        step={"type": "number", "exclusiveMinimum": 0},
        price={"type": "number", "minimum": 0},
    ),
    "additionalProperties": False,
}
QUESTION = {
    **thing(
        "row",
        row=ROW,
        target={"description": "as in a file of rules", "type": ["string", "number", "boolean", "array", "object", "null"]},
        cost={"type": ["string", "null"], "description": "as text, such as L1+0.5*L0"},
        constraints={"type": ["array", "null"], "items": TEXT_SCHEMA, "description": "as text, such as income <= 90000"},
        safety={"type": ["number", "null"], "exclusiveMinimum": 0, "description": "how much more than the target"},
        columns={"type": "object", "additionalProperties": COLUMN_ASKED},
        k={"type": "integer", "minimum": 1, "maximum": MOST_ANSWERS},
        seconds={"type": "number", "exclusiveMinimum": 0, "maximum": MOST_SECONDS},
        seed={"type": "integer", "minimum": 0, "maximum": 2**31},
        language={"enum": list(LANGUAGES)},
        card={"type": "boolean", "description": "whether to write each answer as HTML, too"},
        region={"type": "boolean", "description": "whether to say where the answer stays valid, too"},
        most={"type": "integer", "minimum": 1, "maximum": 4, "description": "of a menu: how many columns may change together"},
    ),
    "additionalProperties": False,
}  # fmt: skip
CHANGE = thing(
    "column label before after text",
    column=TEXT_SCHEMA,
    label=TEXT_SCHEMA,
    before=VALUE,
    after=VALUE,
    text=listed(TEXT_SCHEMA),
)
SCORE = {**thing("before after threshold", before=MAYBE, after=MAYBE, threshold=MAYBE), "type": ["object", "null"]}
ANSWER = thing(
    "status found before after cost bound score changes conflict why html record",
    status={"enum": ["PROVEN_OPTIMAL", "WITHIN_GAP", "VALID", "PROVEN_INFEASIBLE", "NOT_FOUND"]},
    found={"type": "boolean"}, before=VALUE, after=VALUE, cost=MAYBE, bound=MAYBE, score=SCORE,
    changes=listed(CHANGE), conflict=listed(TEXT_SCHEMA), why=TEXT_SCHEMA, html={"type": ["string", "null"]},
    record={"type": "string", "description": "the whole answer as JSON, as `butfor check` reads it"},
)  # fmt: skip
ERROR = thing(
    "error", error=thing("kind given", kind=TEXT_SCHEMA, given=TEXT_SCHEMA, needed=TEXT_SCHEMA, remedy=TEXT_SCHEMA)
)
SCORED = thing(
    "prediction told probabilities",
    prediction=VALUE,
    told=TEXT_SCHEMA,
    probabilities={"type": ["object", "null"], "additionalProperties": NUMBER_SCHEMA},
)
LISTED_ROW = thing(
    "row label values prediction told",
    row={"type": "integer"},
    label=TEXT_SCHEMA,
    values={"type": "object"},
    **SCORED["properties"],
    error={"type": "object", "description": "why the row cannot be read; not there if it can be"},
)


ERRORS = {
    400: "no JSON",
    401: "no token, or a wrong one",
    403: "a page of another server asked",
    404: "there is nothing here",
    409: "the key was used for another question",
    413: "the body is too large",
    421: "another host is meant",
    422: "the question cannot be answered",
    429: "too many questions wait",
    500: "a failure",
    503: "a process ended",
}


def _replies(schema: Schema, *errors: int, description: str = "the reply") -> Schema:
    good = {"200": {"description": description, "content": {"application/json": {"schema": schema}}}}
    bad = {
        str(code): {"description": ERRORS[code], "content": {"application/json": {"schema": named("Error")}}}
        for code in sorted({*errors, 401, 421})
    }
    return {**good, **bad}


def _get(summary: str, schema: Schema, *errors: int, parameters: list[Schema] | None = None) -> Schema:
    return {"get": {"summary": summary, "parameters": parameters or [], "responses": _replies(schema, *errors)}}


def _post(summary: str, body: Schema, schema: Schema, *errors: int, parameters: list[Schema] | None = None) -> Schema:
    return {
        "post": {
            "summary": summary,
            "parameters": parameters or [],
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "responses": _replies(schema, 400, 403, 413, 422, 500, 503, *errors),
        }
    }


def _query(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "schema": schema}


WHOLE_SCHEMA: Schema = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
COUNT_SCHEMA: Schema = {"type": "integer", "minimum": 1, "maximum": MOST_LISTED}


def _looked_up() -> Schema:
    """What is looked up: the model, its columns, rows, the log."""
    listed_rows = thing("total offset rows", total=WHOLE_SCHEMA, offset=WHOLE_SCHEMA, rows=listed(named("Row")))
    asked_rows = [_query("offset", WHOLE_SCHEMA), _query("limit", COUNT_SCHEMA), _query("where", TEXT_SCHEMA)]
    number = {"name": "number", "in": "path", "required": True, "schema": WHOLE_SCHEMA}
    entries = thing("total entries", total=WHOLE_SCHEMA, entries=listed({"type": "object"}))
    return {
        "/api/v1/model": _get("The model and the rules", {"type": "object"}),
        "/api/v1/columns": _get("What each column may hold", thing("columns", columns=listed({"type": "object"}))),
        "/api/v1/rows": _get("Rows of the table, page by page", listed_rows, 400, 422, parameters=asked_rows),
        "/api/v1/rows/{number}": _get("One row", named("Row"), 404, 422, parameters=[number]),
        "/api/v1/log": _get(
            "The last entries of the log, newest first",
            entries,
            400,
            422,
            503,
            parameters=[_query("last", COUNT_SCHEMA)],
        ),
    }


def _worked_out() -> Schema:
    """What processes work out."""
    recorded = thing(
        "answer",
        answer={"type": "string", "description": "the record of an answer"},
        language={"enum": list(LANGUAGES)},
    )
    rendered = {**recorded, "properties": {**recorded["properties"], "as": {"enum": ["page", "letter"]}}}
    unlogged = {**TEXT_SCHEMA, "description": "why it could not be logged; empty if all is well"}
    outside = {**TEXT_SCHEMA, "description": "which values of the row lie outside the data; empty if none do"}
    found = {"answers": listed(named("Answer")), "unlogged": unlogged, "outside": outside}
    answers = thing("answers seconds unlogged outside", **found, seconds=NUMBER_SCHEMA, region={"type": "object"})
    menu = thing("answers text unlogged outside", **found, text=TEXT_SCHEMA)
    checked = thing("passed text", passed={"type": "boolean"}, text=TEXT_SCHEMA)
    told = "the same question with the same key has one reply; a stream of events does not use it"
    key = [{"name": "Idempotency-Key", "in": "header", "schema": TEXT_SCHEMA, "description": told}]

    def worked(summary: str, body: Schema, schema: Schema) -> Schema:
        return _post(summary, body, schema, 409, 429, parameters=key)

    explain = worked("The cheapest change that meets the target", named("Question"), answers)
    events = {"schema": {"type": "string"}, "example": 'event: answers\ndata: {"event": "answers", "answers": []}\n\n'}
    explain["post"]["responses"]["200"]["content"]["text/event-stream"] = events
    return {
        "/api/v1/score": _post("What the model predicts for a row", thing("row", row=ROW), SCORED),
        "/api/v1/explain": explain,
        "/api/v1/menu": worked("Every set of columns worth changing", named("Question"), menu),
        "/api/v1/check": worked("The certificate of an answer, done again", recorded, checked),
        "/api/v1/render": worked("An answer as a page or a letter", rendered, thing("text", text=TEXT_SCHEMA)),
    }


@cache
def interface() -> Schema:
    """The description of the interface."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "butfor", "version": butfor.__version__, "summary": "Certified counterfactual explanations"},
        "paths": {**_looked_up(), **_worked_out()},
        "components": {
            "schemas": {"Question": QUESTION, "Answer": ANSWER, "Error": ERROR, "Row": LISTED_ROW},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }
