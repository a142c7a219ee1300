# SPDX-License-Identifier: BSD-3-Clause
"""The page of a report: what it says, that names stay text, and its timeline in a browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from oriel.cli.report import report_on
from oriel.wait_states import wait_state
from oriel.wait_states.longest import Longest
from oriel.wait_states.recorded_activity import Activity
from support.browser import NARROW, WIDE, check_page, save_screenshot, show
from support.records import EVENTS_OF_A_TURN, LATE, TURN, RecordWriter, write_late_posts

pytest_plugins = ["support.browser"]

REPOSITORY = Path(__file__).resolve().parents[2]
SHOTS = REPOSITORY / "build" / "report" / "screenshots"
EVENTS, PAIRS = 100_000, 4
TURNS = EVENTS // EVENTS_OF_A_TURN // PAIRS
# page.js: of the first rank's waits, and left of time zero.
GUTTER, FIRST_WAITS = 64, 29
# One worker starts the browser and makes the large page.
pytestmark = pytest.mark.xdist_group("report_page")


def made(folder: Path) -> Path:
    report_on(folder)
    return folder / "index.html"


def data_of(path: Path) -> dict:
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    write_late_posts(folder, PAIRS, TURNS)
    return made(folder)


def test_every_wait_state_is_in_the_table():
    names = {
        value
        for name, value in vars(wait_state).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
    assert len(names) >= 10 and names == wait_state.PATTERNS.keys()


def test_the_page_needs_no_package(tmp_path):
    write_late_posts(tmp_path, 1, 3)
    words = [sys.executable, "-S", "-m", "oriel", "report", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
    ended = subprocess.run(words, env=environment, capture_output=True, timeout=60, check=True)
    assert b"Late Post" in ended.stdout
    (row, *_) = data_of(tmp_path / "index.html")["rows"]
    assert row["pattern"] == "Late Post" and row["late"].keys() == {"1"}


def test_a_large_run_makes_a_small_page(large):
    assert large.stat().st_size < 3_000_000
    timelines = data_of(large)["timelines"]
    assert [len(each["waits"]) for each in timelines[::2]] == [2 * 5 * TURNS] * PAIRS
    assert [len(each["epochs"]) for each in timelines] == [8 * TURNS] * 2 * PAIRS


def test_a_run_that_is_too_large_shows_its_longest_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(Longest, "MOST", 7)
    write_late_posts(tmp_path, 1, 10)
    data = data_of(made(tmp_path))
    waits, epochs = data["timelines"][0]["waits"], [each["epochs"] for each in data["timelines"]]
    assert waits[2::5] == [LATE] * 7  # none of the ten transfers
    assert sum(map(len, epochs)) == 7 * 8
    assert any("leaves out the shortest 13 waits and 13 epochs" in note for note in data["notes"])


OPERATIONS = 20_000


@pytest.fixture(scope="module")
def moving(tmp_path_factory) -> Path:
    """8 ranks; each puts to the next one, a microsecond after the one before, which takes a
    notification 500 ns later."""
    folder = tmp_path_factory.mktemp("moving")
    for rank in range(8):
        record = RecordWriter(rank, 8)
        record.window(1, "ring", "0-7", rank)
        target, source = (rank + 1) % 8, (rank - 1) % 8
        for number in range(OPERATIONS // 8):
            time = 10_000 * number + 1_000 * rank
            about = {"number": 8, "rank": target}
            record.add(time, "operation_issued", "put", id=number, **about)
            record.add(time, "notification_sent", "tag", id=7, **about)
            taken = {"id": 7, "number": 8, "rank": source}
            record.add(
                time - 1_000 * rank + 1_000 * source + 500, "notification_matched", "tag", **taken
            )
            if number % 10 == 0:
                record.add(time + 600, "agent_swept", "", window=0, number=50)
        record.write(folder)
    return made(folder)


def test_operations_take_little_of_the_page(moving):
    data = data_of(moving)
    assert [len(each["operations"]) for each in data["timelines"]] == [9 * OPERATIONS // 8] * 8
    assert [len(each["sweeps"]) for each in data["timelines"]] == [2 * OPERATIONS // 80] * 8
    # Of 100,000 not 5 MB, which open in a second.
    assert moving.stat().st_size < 40_000 + 45 * OPERATIONS


def test_a_page_has_a_limit_of_operations(tmp_path, monkeypatch):
    monkeypatch.setattr(Activity, "MOST", 3)
    record = RecordWriter(0, 1)
    record.window(1, "own", "0", 0)
    for number in range(5):
        record.add(100 * number, "operation_issued", "get", id=number, number=8, rank=0)
        record.add(100 * number + 50, "agent_swept", "", window=0, number=10)
    record.write(tmp_path)
    data = data_of(made(tmp_path))
    (line,) = data["timelines"]
    assert (len(line["operations"]), len(line["sweeps"])) == (3 * 9, 3 * 2)
    assert data["notes"][-2:] == [
        "The timeline shows the first 3 operations; 2 later ones are left out.",
        "The timeline shows the first 3 sweeps of progress agents; 2 later ones are left out.",
    ]


# In a browser


def text_of(browser, css: str) -> str:
    return browser.find_element("css selector", css).text


def shown(browser) -> tuple[float, float]:
    """The time that the timeline shows, in nanoseconds."""
    canvas = browser.find_element("id", "timeline")
    return tuple(float(canvas.get_attribute(f"data-{name}")) for name in ("from", "until"))


def actions(browser):
    return pytest.importorskip("selenium.webdriver").ActionChains(browser, duration=0)


def move_to(browser, chain, x: float, y: float):
    """A place of the timeline, from its upper left corner."""
    canvas = browser.find_element("id", "timeline")
    # Offsets are from the middle of what can be seen of it.
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    width, height = canvas.size["width"], canvas.size["height"]
    return chain.move_to_element_with_offset(canvas, int(x - width / 2), int(y - height / 2))


def test_names_stay_text(tmp_path, browser):
    name = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
    write_late_posts(tmp_path, 1, 3, window=name)
    path = made(tmp_path)
    assert path.read_text(encoding="utf-8").count("<script") == 2
    show(browser, path, WIDE)
    assert browser.title == "Oriel: what the ranks waited for"
    assert f'window "{name}"' in text_of(browser, "#rows td.where")
    assert browser.find_elements("css selector", "img") == []
    check_page(browser, WIDE, "body")


@pytest.mark.parametrize("width", (WIDE, NARROW))
def test_a_large_run(large, browser, width):
    """8 ranks and 10^5 events."""
    show(browser, large, width)
    save_screenshot(browser, SHOTS / f"large-{width}.png")
    check_page(browser, width, "body")
    report = data_of(large)
    rows = browser.find_elements("css selector", "#rows tbody tr")
    cells = [cell.text for cell in rows[0].find_elements("css selector", "td")]
    assert cells[0] == "Late Post" and cells[3] == f"{TURNS * PAIRS:,}"
    assert cells[1] == f"{TURNS * PAIRS * LATE / 1e9:.3f}" and cells[4] == "1, 3, 5, 7"
    assert "ORIEL_Win_icomplete returns at once; up to" in cells[5]
    bars = browser.find_elements("css selector", "#waited .bar")
    assert [bar.text.split("\n")[0] for bar in bars] == [f"rank {rank}" for rank in (0, 2, 4, 6)]
    late = browser.find_elements("css selector", "#late .bar")
    assert {bar.text.split("\n")[0] for bar in late} == {f"rank {rank}" for rank in (1, 3, 5, 7)}
    # All ranks' bands have been drawn: the colour of a wait is in each of the waiting ones.
    assert shown(browser) == (0, report["span"])
    pixels = browser.execute_script(
        "const canvas = document.getElementById('timeline');"
        "const context = canvas.getContext('2d');"
        "return bands.map((band) => Array.from(context.getImageData("
        "canvas.width / 2, 22 + band.top + 7, 1, 1).data.slice(0, 3)));"
    )
    assert pixels[::2] == [[0xD1, 0x49, 0x5B]] * PAIRS
    assert pixels[1::2] == [[0xF1, 0xF4, 0xF6]] * PAIRS


def test_a_row_marks_its_waits_and_shows_the_first(large, browser):
    show(browser, large, WIDE)
    browser.find_elements("css selector", "#rows tbody tr")[0].click()
    assert text_of(browser, "#matches") == f"1 of {TURNS * PAIRS:,} waits"
    begin, end = shown(browser)
    assert begin <= 2_100 and 2_100 + LATE <= end <= 6 * LATE
    assert "Rank 0 waited 60 µs, for rank 1: Late Post" in text_of(browser, "#details")
    save_screenshot(browser, SHOTS / "row.png")
    browser.find_element("id", "next").click()
    assert text_of(browser, "#matches").startswith("2 of ")
    assert "Rank 2 waited" in text_of(browser, "#details")
    browser.find_element("id", "previous").click()
    browser.find_element("id", "previous").click()
    assert text_of(browser, "#matches").startswith(f"{TURNS * PAIRS:,} of ")
    assert shown(browser)[1] > TURN * (TURNS - 3)


def test_a_click_tells_of_a_wait_and_of_an_epoch(large, browser):
    show(browser, large, WIDE)
    browser.find_elements("css selector", "#rows tbody tr")[1].click()  # the transfer
    chosen = "#rows tr.chosen td"
    assert text_of(browser, chosen) == "Transfer"
    begin, end = shown(browser)
    width = browser.find_element("id", "timeline").size["width"]

    def click(time: float, y: float) -> None:
        x = GUTTER + (time - begin) / (end - begin) * (width - GUTTER)
        move_to(browser, actions(browser), x, y).click().perform()

    click(2_100 + LATE - 10_000, FIRST_WAITS)
    assert text_of(browser, chosen) == "Late Post"
    told = text_of(browser, "#details")
    assert "for rank 1" in told and "in MPI_Win_complete in exchange" in told
    assert "The step of rank 1 that ended it came at 0.062 ms." in told
    click(2_100 + LATE - 10_000, FIRST_WAITS + 11)
    assert text_of(browser, "#details").startswith('Rank 0: access epoch on window "halo"')
    assert "70 µs from closing to completion" in text_of(browser, "#details")


def test_an_operation_tells_of_itself_and_has_arrows(moving, browser):
    """The second put of rank 1, and its notification at rank 2."""
    show(browser, moving, WIDE)
    browser.execute_script("show(9_000, 21_000)")
    save_screenshot(browser, SHOTS / "operations.png")

    def place(band: int, part: str, time: float) -> tuple[int, int]:
        return browser.execute_script(
            "const [band, part, time] = arguments;"
            "return [Math.round(xOf(time)), yOf(bands[band]) + bands[band].at[part] + 1];",
            band, part, time,
        )  # fmt: skip

    def colour(x: int, y: int) -> str:
        pixel = browser.execute_script(
            "return [...context.getImageData(...arguments, 1, 1).data]", x, y
        )
        return "#" + bytes(pixel[:3]).hex()

    put, taken = place(1, "operations", 11_000), place(2, "ticks", 11_500)
    assert colour(*put) == "#3b82b8" and colour(*taken) == "#2f8f6b"
    move_to(browser, actions(browser), put[0], put[1] + 3).perform()
    told = text_of(browser, "#tip")
    assert told.startswith(
        'Rank 1: put of 8 bytes to rank 2, window "ring", protocol stored, tag 7: begun at 0.011 ms'
    )
    assert "its notification was taken 500 ns after its begin" in told
    head = taken[0] + 5, taken[1] + 2
    assert colour(*head) == "#22303c"
    save_screenshot(browser, SHOTS / "operation.png")
    move_to(browser, actions(browser), put[0], put[1] - 8).perform()
    assert not browser.find_element("id", "tip").is_displayed()
    assert colour(*head) == "#2f8f6b"
    # What has come from another rank tells of the same.
    move_to(browser, actions(browser), taken[0], taken[1] + 3).click().perform()
    assert text_of(browser, "#details") == told
    check_page(browser, WIDE, "body")


def test_arrows_of_all_where_few_operations_are_in_sight(moving, browser):
    show(browser, moving, WIDE)
    counted = (
        "let drawn = 0; const known = drawArrow; drawArrow = () => { ++drawn; };"
        "show(...arguments); drawArrow = known; return drawn;"
    )
    assert browser.execute_script(counted, 9_000, 21_000) == 2 * 10
    assert browser.execute_script(counted, 0, 10_000_000) == 0


def test_wheel_drag_and_buttons(large, browser):
    wheel = pytest.importorskip("selenium.webdriver.common.actions.wheel_input")
    show(browser, large, WIDE)
    canvas = browser.find_element("id", "timeline")
    whole = shown(browser)
    origin = wheel.ScrollOrigin.from_element(canvas)
    actions(browser).scroll_from_origin(origin, 0, -100).perform()
    near = shown(browser)
    assert near[1] - near[0] == pytest.approx((whole[1] - whole[0]) * 0.7788, rel=1e-3)
    assert whole[0] < near[0] and near[1] < whole[1]
    chain = move_to(browser, actions(browser), 600, FIRST_WAITS).click_and_hold()
    move_to(browser, chain, 700, FIRST_WAITS).release().perform()
    moved = shown(browser)
    hundred = 100 / (canvas.size["width"] - GUTTER) * (near[1] - near[0])
    assert near[0] - moved[0] == pytest.approx(hundred, rel=0.01)
    assert text_of(browser, "#details") == ""  # a drag chooses nothing
    browser.find_element("id", "whole").click()
    assert shown(browser) == whole


def test_search_by_rank_and_by_words(large, browser):
    show(browser, large, WIDE)
    field = browser.find_element("id", "search")
    for words, found in (
        ("rank 3", f"1 of {TURNS:,} waits"),  # for which rank 2 waited
        ("rank 4", f"1 of {2 * TURNS:,} waits"),  # two parts each
        ("win_COMPLETE", f"1 of {2 * TURNS * PAIRS:,} waits"),
        ("transfer", f"1 of {TURNS * PAIRS:,} waits"),
        ("no such call", "No wait is found."),
    ):
        field.clear()
        field.send_keys(words)
        assert text_of(browser, "#matches") == found
    save_screenshot(browser, SHOTS / "search.png")


def test_a_process_without_mpi_comm_world_has_its_pid(tmp_path, browser):
    """Beside a rank of the same number."""
    write_late_posts(tmp_path, 1, 3)
    alone = RecordWriter(-1, -1, pid=1)
    alone.window(1, "own", "", 0)
    alone.add(100, "wait_begun", "flush", number=1)
    alone.add(190_000, "wait_ended", "flush", number=1)
    alone.write(tmp_path)
    show(browser, made(tmp_path), WIDE)
    assert text_of(browser, "#summary").startswith("2 ranks and 1 process without MPI_COMM_WORLD")
    bars = browser.find_elements("css selector", "#waited .bar")
    assert [bar.text.split("\n")[0] for bar in bars] == ["rank 0", "PID 1"]
    field = browser.find_element("id", "search")
    for words, found in (
        ("rank 1", "1 of 3 waits"),  # those for rank 1
        ("process 1", "1 of 1 waits"),
        ("1", "1 of 4 waits"),
        ("rank 0", "1 of 6 waits"),
    ):
        field.clear()
        field.send_keys(words)
        assert text_of(browser, "#matches") == found
    field.clear()
    field.send_keys("process 1")
    assert text_of(browser, "#details").startswith("Process 1 waited 190 µs: Transfer")
    save_screenshot(browser, SHOTS / "process.png")
    check_page(browser, WIDE, "body")


def test_a_run_without_waits(tmp_path, browser):
    alone = RecordWriter(0, 1)
    alone.window(1, "own", "0", 0)
    alone.epoch({"opened": 10, "activated": 20, "closed": 5_000, "completed": 5_100}, "lock", 1)
    alone.write(tmp_path)
    show(browser, made(tmp_path), WIDE)
    assert text_of(browser, "#notes") == "No wait took 1 % of the run."
    check_page(browser, WIDE, "body")
