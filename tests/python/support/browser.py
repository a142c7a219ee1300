# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a screen and without a network."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

WIDE, NARROW = 1400, 390


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """For test files that name this plugin: a conftest.py here would hide that of tests/mpi."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="`make setup` installs selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("There are no chromium and chromedriver on this machine.")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # As root there is no sandbox, and a container's /dev/shm may be small. No name is resolved.
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    started = webdriver.Chrome(options=options, service=service)
    started.set_page_load_timeout(60)
    yield started
    started.quit()


def show(browser, path: Path, width: int, query: str = "") -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(path.as_uri() + query)


def save_screenshot(browser, picture: Path) -> None:
    picture.parent.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(picture))
    assert picture.stat().st_size > 10_000, "the page is blank"


def requests_of(browser) -> list[str]:
    """The addresses that the page has asked for since the last call."""
    found = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return found


# Elements that reach beyond the screen and can neither be scrolled to nor wrap.
_CUT_OFF = """
const wide = [];
for (const each of document.querySelectorAll(arguments[0] + ' *')) {
  if (each.getBoundingClientRect().right <= window.innerWidth + 1) continue;
  let above = each;
  while (above && !['auto', 'scroll'].includes(getComputedStyle(above).overflowX)) {
    above = above.parentElement;
  }
  if (!above || above === document.documentElement || above === document.body) {
    wide.push(each.tagName + ' ' + each.textContent.slice(0, 60));
  }
}
return wide.slice(0, 5);
"""


def check_page(browser, width: int, within: str) -> None:
    """It fits the screen, has loaded nothing from elsewhere, and has no errors."""
    total = browser.execute_script("return document.documentElement.scrollWidth")
    assert total <= width, f"{total} pixels on a screen of {width}"
    assert browser.execute_script(_CUT_OFF, within) == []
    asked = requests_of(browser)
    assert asked
    assert [url for url in asked if urlsplit(url).scheme not in ("file", "data")] == []
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
