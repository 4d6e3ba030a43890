"""HiGHS beside the user's own: it says nothing, and neither decides for the other how many processors it uses."""

from __future__ import annotations

import subprocess
import sys

import highspy
import numpy as np
import pytest

from butfor.programs.growing import GrowingProgram
from butfor.programs.inequalities import Inequalities
from butfor.programs.quiet import quiet_highs, work


def small_program(solver: highspy.Highs) -> highspy.Highs:
    """Two numbers between 0 and 1 whose sum is at least 1; the second is dearer."""
    solver.setOptionValue("output_flag", False)
    for cost in (1.0, 2.0):
        solver.addVariable(lb=0, ub=1, obj=cost)
    solver.addRow(1.0, highspy.kHighsInf, 2, np.array([0, 1], dtype=np.int32), np.ones(2))
    return solver


def test_nothing_is_printed_from_the_beginning() -> None:
    code = "from butfor.programs.quiet import quiet_highs; quiet_highs(); print('made')"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "made\n"


@pytest.mark.parametrize("threads", [0, 2])
def test_the_users_programs_and_ours_do_not_meet(threads: int) -> None:
    highspy.Highs.resetGlobalScheduler(True)
    users = small_program(highspy.Highs())
    users.setOptionValue("threads", threads)
    assert users.run() == highspy.HighsStatus.kOk
    ours = small_program(quiet_highs())
    ours.setOptionValue("threads", 1)
    work(ours)
    assert ours.getModelStatus() == highspy.HighsModelStatus.kOptimal
    rows = Inequalities(-np.ones((1, 2)), np.array([-np.inf]), np.array([-1.0]), np.zeros(2), np.ones(2))
    assert GrowingProgram(np.array([1.0, 2.0]), rows).solved().values == pytest.approx([1, 0])
    again = small_program(highspy.Highs())
    again.setOptionValue("threads", threads)
    assert again.run() == highspy.HighsStatus.kOk
    assert again.getModelStatus() == highspy.HighsModelStatus.kOptimal


def test_what_is_raised_is_raised_here() -> None:
    class Broken:
        def run(self) -> None:
            raise ValueError("broke down")

    with pytest.raises(ValueError, match="broke down"):
        work(Broken())
