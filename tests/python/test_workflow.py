# SPDX-License-Identifier: BSD-3-Clause
"""The workflow of the hosting site runs what .ci/run runs, by actions that cannot change."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
WORKFLOW = (REPOSITORY / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_goals_are_those_of_ci():
    goals = re.findall(r"^make (\w+)$", (REPOSITORY / ".ci" / "run").read_text(), re.M)
    (listed,) = re.findall(r"goal: \[(.*)\]", WORKFLOW)
    assert goals and listed.split(", ") == goals


def test_actions_are_pinned():
    actions = re.findall(r"uses: (\S+)", WORKFLOW)
    assert actions
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in actions)


def test_owned_areas_exist():
    lines = (REPOSITORY / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    patterns = [line.split()[0] for line in lines if line and not line.startswith("#")]
    gone = [each for each in patterns if each != "*" and not (REPOSITORY / each[1:]).exists()]
    assert not gone
