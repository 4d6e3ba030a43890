"""The interface: answers are those of the explainer, streams close in, bad questions are refused in words."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import pytest
from sklearn.base import clone
from starlette.testclient import TestClient

import butfor as bf
from butfor.explanation.explanation import Explanation
from butfor.serve.desk import Desk
from butfor.serve.interface import interface
from tests.serve.conftest import SCRIPT

ROW = 3


def checked(path: str, method: str, reply: Any) -> Any:
    """The JSON of a reply, which is as the interface describes it."""
    whole = interface()
    told = whole["paths"][path][method]["responses"][str(reply.status_code)]["content"]["application/json"]["schema"]
    jsonschema.validate(reply.json(), {**told, "components": whole["components"]})
    return reply.json()


def explained(client: TestClient, **body: Any) -> Any:
    return checked("/api/v1/explain", "post", client.post("/api/v1/explain", json=body))


def test_an_answer_is_that_of_the_explainer(client: TestClient, desk: Desk) -> None:
    found = explained(
        client, row=ROW, columns={"amount": {"direction": "down"}}, constraints=["fixed job"], region=True
    )
    wanted = desk.explainer.explain(desk.table.iloc[[ROW]], constraints=["fixed job", bf.only_down("amount")]).only
    (answer,) = found["answers"]
    assert answer["status"] == "PROVEN_OPTIMAL" == wanted.certificate.status.name
    assert answer["cost"] == pytest.approx(wanted.cost, abs=1e-9)
    record = Explanation.from_json(answer["record"])
    assert record.meta["who"] == "local"
    assert bf.check(record, desk.explainer.model).passed
    for column in found["region"]["columns"]:
        assert column["low"] < column["high"]


def test_the_events_of_a_stream_close_in(client: TestClient) -> None:
    reply = client.post("/api/v1/explain", json={"row": ROW}, headers={"accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: ")]
    answers = [event["answers"][0] for event in events if event["event"] == "answers"]
    assert [event["event"] for event in events][-1] == "done"
    assert answers[-1]["status"] == "PROVEN_OPTIMAL"
    costs, bounds = ([one[name] for one in answers] for name in ("cost", "bound"))
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)


def test_a_typed_row(client: TestClient, desk: Desk) -> None:
    values = {**desk.row(ROW)["values"], "income": 30_000, "job": None}
    told = checked("/api/v1/score", "post", client.post("/api/v1/score", json={"row": values}))
    table = desk.typed(values)
    assert told["prediction"] == desk.explainer.model.predict(table)[0]
    answer = explained(client, row=values)["answers"][0]
    assert answer["before"] == told["prediction"] != answer["after"]


def test_rows_page_by_page(client: TestClient, desk: Desk) -> None:
    part = checked("/api/v1/rows", "get", client.get("/api/v1/rows", params={"offset": 5, "limit": 3}))
    assert [one["row"] for one in part["rows"]] == [5, 6, 7]
    assert part["total"] == 300
    assert part["rows"][2]["values"]["job"] is None
    found = client.get("/api/v1/rows", params={"where": "income > 40000 and amount < 9000"}).json()
    wanted = desk.table.query("income > 40000 and amount < 9000").index.tolist()
    assert found["total"] == len(wanted)
    assert [one["row"] for one in found["rows"]] == wanted[:20]
    assert checked("/api/v1/rows/{number}", "get", client.get("/api/v1/rows/5")) == part["rows"][0]


def test_model_columns_and_interface(client: TestClient) -> None:
    assert checked("/api/v1/model", "get", client.get("/api/v1/model"))["classes"] == ["approved", "rejected"]
    columns = checked("/api/v1/columns", "get", client.get("/api/v1/columns"))["columns"]
    assert {one["name"]: one["kept"] for one in columns}["age"]
    assert [one["unit"] for one in columns if one["name"] == "amount"] == ["EUR"]
    assert client.get("/api/v1/openapi.json").json() == interface()


def test_menu_check_and_render(client: TestClient) -> None:
    menu = checked("/api/v1/menu", "post", client.post("/api/v1/menu", json={"row": ROW}))
    assert menu["answers"]
    assert all(one["found"] for one in menu["answers"])
    record = menu["answers"][0]["record"]
    assert checked("/api/v1/check", "post", client.post("/api/v1/check", json={"answer": record}))["passed"]
    page = client.post("/api/v1/render", json={"answer": record, "as": "page", "language": "de"}).json()["text"]
    assert page.startswith("<!DOCTYPE html>")
    assert SCRIPT not in page
    letter = client.post("/api/v1/render", json={"answer": record, "as": "letter", "language": "de"}).json()["text"]
    assert "keine Zusage" in letter
    changed = record.replace('"cost": ', '"cost": 1')
    assert client.post("/api/v1/check", json={"answer": changed}).status_code == 422


def test_a_check_that_fails_says_so(client: TestClient, desk: Desk) -> None:
    X, model = desk.table, desk.explainer.model
    stranger = bf.Explainer(clone(model).fit(X, model.predict(X)), data=X).explain(X.iloc[[ROW]]).only
    told = checked("/api/v1/check", "post", client.post("/api/v1/check", json={"answer": stranger.to_json()}))
    assert not told["passed"]
    assert "the answer does not hold" in told["text"]


def test_an_impossible_question_names_its_locks(client: TestClient, desk: Desk) -> None:
    answer = explained(client, row=ROW, columns={one["name"]: {"frozen": True} for one in desk.columns})["answers"][0]
    assert answer["status"] == "PROVEN_INFEASIBLE"
    assert answer["conflict"], answer["why"]
    assert answer["cost"] is None


def test_the_same_key_has_the_same_reply(client: TestClient) -> None:
    ask = {"row": ROW, "seed": 1}
    first, second = (
        client.post("/api/v1/explain", json=ask, headers={"idempotency-key": "a"}).json() for _ in range(2)
    )
    assert first == second  # seconds, too: nothing was asked again
    other = client.post("/api/v1/explain", json={"row": 4}, headers={"idempotency-key": "a"})
    assert other.status_code == 409


BAD = {
    "no row": ({}, "has no row"),
    "another name": ({"row": 3, "colums": {}}, "columns"),
    "a row that is not there": ({"row": 300}, "300 rows"),
    "a row that lacks columns": ({"row": {"age": 3}}, "lacks"),
    "a value that is none": (
        {"row": {"age": 30, "job": "pilot", "income": 1, "amount": 1, f"months{SCRIPT}": 6}},
        "pilot",
    ),
    "a column that is not there": ({"row": 3, "columns": {"agee": {"frozen": True}}}, "age"),
    "what is declared, not asked": ({"row": 3, "columns": {"amount": {"label": "x"}}}, "label"),
    "a class that is not there": ({"row": 3, "target": "aproved"}, "approved"),
    "locks that contradict": ({"row": 3, "columns": {"amount": {"range": [9, 3]}}}, "swap the ends"),
    "a direction that is an object": ({"row": 3, "columns": {"amount": {"direction": {}}}}, "direction"),
    "much time": ({"row": 3, "seconds": 1e9}, "60"),
    "no time": ({"row": 3, "seconds": -1}, "60"),
    "many answers": ({"row": 3, "k": 1000}, "10"),
    "truth in words": ({"row": 3, "region": "yes"}, "true or false"),
    "another language": ({"row": 3, "language": "xx"}, "en"),
    "a formula": ({"row": 3, "constraints": ["__import__('os')"]}, "__import__"),
    "a list": ([], "object"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_questions_are_refused_in_words(name: str, client: TestClient) -> None:
    body, told = BAD[name]
    reply = client.post("/api/v1/explain", json=body)
    error = checked("/api/v1/explain", "post", reply)["error"]
    assert reply.status_code == 422
    assert told in " ".join(map(str, error.values()))


def test_what_is_no_json_is_refused(client: TestClient) -> None:
    for body in ("{", '{"row": NaN}', "[" * 100_000, b"\xff"):
        reply = client.post("/api/v1/explain", content=body, headers={"content-type": "application/json"})
        assert reply.status_code == 400
    assert client.post("/api/v1/explain", content="{}", headers={"content-type": "text/plain"}).status_code == 400


@pytest.mark.long
def test_a_process_that_is_killed_is_told_and_replaced(client: TestClient) -> None:
    (worker,) = client.team._all  # type: ignore[attr-defined]
    os.kill(worker.process.pid, signal.SIGSTOP)  # it takes the question, and does not answer
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(client.post, "/api/v1/explain", json={"row": ROW})
        while not worker.busy:
            time.sleep(0.01)
        worker.process.kill()
        assert asked.result().status_code == 503
    assert worker not in client.team._all  # type: ignore[attr-defined]
    assert explained(client, row=ROW)["answers"][0]["found"]
