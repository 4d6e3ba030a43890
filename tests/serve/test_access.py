"""The page about threats, line by line: who gets in, what every reply says, and what is never written down."""

from __future__ import annotations

import logging
import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from butfor.serve.access import HEADERS, LARGEST_BODY, LOOPBACK, Keys
from butfor.serve.app import application
from butfor.serve.desk import Desk
from tests.serve.conftest import HERE, SCRIPT

TOKEN = "a-long-secret-of-anna-0123456789"


@pytest.fixture
def locked(desk: Desk, client: TestClient) -> TestClient:
    """The same behind a token. Nothing here reaches a process."""
    keys = Keys({TOKEN: "anna"}, csrf="secret-of-the-page")
    return TestClient(application(desk, client.team, (*LOOPBACK, "bank"), keys), base_url="http://bank")  # type: ignore[attr-defined]


def test_another_host_is_refused(client: TestClient) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example"):
        assert client.get("/api/v1/model", headers={"host": host}).status_code == 421
    for host in ("localhost:8000", "[::1]:8000", "127.0.0.1"):
        assert client.get("/api/v1/model", headers={"host": host}).status_code == 200


def test_nothing_is_told_without_the_token(locked: TestClient) -> None:
    for path in ("/api/v1/model", "/api/v1/columns", "/api/v1/rows", "/api/v1/rows/3", "/api/v1/openapi.json"):
        for headers in (
            {},
            {"authorization": "Bearer wrong"},
            {"authorization": f"Bearer {TOKEN[:-1]}"},
            {"cookie": "butfor=x"},
        ):
            assert locked.get(path, headers=headers).status_code == 401
        assert locked.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    page = locked.get("/?row=3&ask=1").text
    assert "months" not in page
    assert "secret-of-the-page" not in page


def test_a_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(locked: TestClient) -> None:
    assert locked.post("/session", json={"token": "wrong"}).status_code == 401
    made = locked.post("/session", json={"token": TOKEN})
    told = made.headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=strict" in told
    assert locked.get("/api/v1/model").status_code == 200
    assert 'content="secret-of-the-page"' in locked.get("/").text


@pytest.mark.parametrize(
    "foreign",
    ["name=two words", 'cart={"a": 1, "b": [2]}', "od{d}=1", "a[b]=c", "alone", "=", "x=é", 'q="', "butfor2=wrong"],
)
def test_cookies_of_other_applications_lock_nobody_out(foreign: str, locked: TestClient) -> None:
    for cookies in (f"{foreign}; butfor={TOKEN}", f"butfor={TOKEN}; {foreign}", f"a=b;{foreign};butfor={TOKEN}"):
        reply = locked.get("/api/v1/model", headers={"cookie": cookies.encode()})
        assert reply.status_code == 200, cookies
    assert locked.get("/api/v1/model", headers={"cookie": foreign.encode()}).status_code == 401


def test_a_token_of_any_signs_goes_through_a_cookie(desk: Desk, client: TestClient) -> None:
    token = 'two words + 100% & "more", a=b; c'
    app = application(desk, client.team, LOOPBACK, Keys({token: "anna"}))  # type: ignore[attr-defined]
    browser = TestClient(app, base_url=HERE)
    assert browser.post("/session", json={"token": token}).status_code == 200
    assert browser.get("/api/v1/model").status_code == 200


def test_a_foreign_page_cannot_ask(locked: TestClient, client: TestClient) -> None:
    locked.post("/session", json={"token": TOKEN})
    row = {"row": 3}
    assert locked.post("/api/v1/score", json=row).status_code == 403  # a cookie alone
    assert locked.post("/api/v1/score", json=row, headers={"x-csrf-token": "secret-of-the-page"}).status_code == 200
    foreign = {"x-csrf-token": "secret-of-the-page", "sec-fetch-site": "cross-site"}
    assert locked.post("/api/v1/score", json=row, headers=foreign).status_code == 403
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        assert client.post("/api/v1/score", json=row, headers=headers).status_code == 403
    assert "access-control-allow-origin" not in client.options("/api/v1/score").headers


def test_huge_bodies_are_refused(client: TestClient) -> None:
    large = b'{"row": "' + b"x" * LARGEST_BODY + b'"}'
    kind = {"content-type": "application/json"}
    assert client.post("/api/v1/score", content=large, headers=kind).status_code == 413
    pieces = iter([large[:500_000], large[500_000:]])  # without a length
    assert client.post("/api/v1/score", content=pieces, headers=kind).status_code == 413


def test_every_reply_has_the_headers(client: TestClient) -> None:
    for path in ("/", "/static/what-if.js", "/static/card.css", "/api/v1/model", "/nothing", "/api/v1/rows?limit=x"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "data:" not in policy


def test_nothing_in_the_page_is_inline_or_from_elsewhere(client: TestClient) -> None:
    page = client.get("/?row=3&ask=1").text
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=)|javascript:", page)
    assert set(re.findall(r'(?:src|href)="(https?:)?//', page)) == set()
    script = client.get("/static/what-if.js").text
    assert set(re.findall(r"https?://[\w.]+", script)) == {"http://www.w3.org"}  # the name of SVG


def test_names_levels_and_words_cannot_break_out(client: TestClient) -> None:
    page = client.get(
        "/?row=3&ask=1", params={"row": "3", "ask": "1", "where": SCRIPT, "lock": SCRIPT, "target": SCRIPT}
    ).text
    assert SCRIPT not in page
    assert SCRIPT in unescape(page)
    answer = client.post("/api/v1/explain", json={"row": 3, "card": True}).json()["answers"][0]
    assert SCRIPT not in answer["html"]
    assert SCRIPT in unescape(answer["html"])


def test_there_are_no_paths_to_files(client: TestClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/app.py", "//etc/passwd"):
        assert client.get(path).status_code == 404
    assert client.post("/static/what-if.js").status_code in (404, 405)


def test_the_log_of_requests_has_no_personal_data(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "butfor"):
        client.get("/api/v1/rows", params={"where": "income == 98765"})
        client.post("/api/v1/score", json={"row": 3})
    told = [one.getMessage() for one in caplog.records]
    assert any("/api/v1/rows 200" in one for one in told)
    assert not any("98765" in one or "testclient" in one for one in told)


def test_tokens_of_several_people_are_told_apart() -> None:
    keys = Keys({TOKEN: "anna", TOKEN[::-1]: "bert"})
    assert (keys.name_of(TOKEN), keys.name_of(TOKEN[::-1]), keys.name_of(""), keys.name_of("ä")) == (
        "anna",
        "bert",
        None,
        None,
    )


def test_the_page_answers_without_a_script(client: TestClient) -> None:
    page = client.get("/?row=3&ask=1&lock=amount&target=approved&language=de").text
    assert "bewiesen optimal" in page
    assert 'lang="de"' in page
    assert HERE not in page
