"""`butfor serve`: the addresses that it prints."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import joblib
import pytest
from typer.testing import CliRunner

from butfor.cli import app, serving
from butfor.datasets import loans

TOKENS = {"anna": "a+long%20secret&more=of #anna", "bert": "another-secret_of.bert~0123"}


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is printed before a server begins, which is left out."""
    X, y = loans.load()
    joblib.dump(loans.pipeline().fit(X, y), tmp_path / "model.joblib")
    X.head(50).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "tokens.toml").write_text("".join(f'{name} = "{token}"\n' for name, token in TOKENS.items()))
    monkeypatch.chdir(tmp_path)

    def run(sockets: list[Any]) -> None:
        for one in sockets:
            one.close()

    server = SimpleNamespace(Config=lambda *args, **more: None, Server=lambda config: SimpleNamespace(run=run))
    monkeypatch.setattr(serving, "_uvicorn", lambda: server)
    done = CliRunner().invoke(app, ["serve", "model.joblib", "data.csv", "--port", "0", "--tokens", "tokens.toml"])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_a_token_in_a_printed_address_is_read_as_it_is(printed: list[str]) -> None:
    addresses, names = zip(*(line.split("  ") for line in printed), strict=True)
    assert names == tuple(TOKENS)
    fragments = [urlsplit(address).fragment for address in addresses]
    assert [parse_qs(fragment)["token"] for fragment in fragments] == [[token] for token in TOKENS.values()]
    assert fragments[1] == f"token={TOKENS['bert']}"
