"""A bar for who waits, on standard error; silence for everybody else."""

from __future__ import annotations

import pytest

from butfor.views import progress


def test_a_bar_that_is_asked_for_is_shown(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress.bar(3, True) as advance:
        advance(3)
    shown = capsys.readouterr()
    assert "explaining" in shown.err
    assert not shown.out


@pytest.mark.parametrize("show", [False, None])
def test_where_there_is_no_terminal_nothing_is_shown(capsys, show) -> None:
    with progress.bar(3, show) as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (1000.0, False)])
def test_on_a_terminal_it_appears_when_the_work_takes_long(capsys, monkeypatch, patience, shown) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_A_BAR", patience)
    with progress.bar(3, None) as advance:
        advance(1)
    assert ("explaining" in capsys.readouterr().err) == shown


def test_a_bar_ends_with_the_error_that_ended_the_work(capsys) -> None:
    with pytest.raises(KeyboardInterrupt), progress.bar(3, True):
        raise KeyboardInterrupt
