# SPDX-License-Identifier: BSD-3-Clause
"""The documentation's site builds without a warning, has every call, setting and info key, leads to
every page, and can be read in a browser on a wide and on a narrow screen without a network."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import table as calls_table
from support.browser import NARROW, WIDE, check_page, save_screenshot, show

pytest_plugins = ["support.browser"]

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
LIMIT_SECONDS = 300
# The main pages, and one of each kind: tables, ladders of protocols, declarations, long code.
PAGES = (
    "index",
    "start",
    "guides/index",
    "guides/halo",
    "guides/from_other_interfaces",
    "guides/slow",
    "examples/index",
    "reference/c/notify",
    "reference/cpp",
    "reference/fortran",
    "reference/python",
    "reference/info_keys",
    "reference/settings",
    "design/README",
    "protocols",
    "glossary",
    "evidence",
    "benchmarks/results",
)
# One worker builds the site for all tests.
pytestmark = pytest.mark.xdist_group("docs")
sphinx = pytest.importorskip("sphinx", reason="`make setup` installs Sphinx")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [REPOSITORY / "scripts" / "docs", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-4000:]
    return folder


class Page(HTMLParser):
    """What a page refers to, and the anchors that it has."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id") or "")
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag in ("img", "script", "link", "iframe", "source"):
            self.loaded += [attributes[name] for name in ("src", "href") if attributes.get(name)]


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in site.rglob("*.html")}


def sources() -> list[str]:
    found = [path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")]
    assert len(found) > 40
    return found


def test_every_page_is_in_the_navigation(site, pages):
    start = pages[(site / "index.html").resolve()]
    linked = {unquote(urlsplit(link).path) for link in start.links}
    missing = [name for name in sources() if name != "index" and f"{name}.html" not in linked]
    assert not missing, "No toctree of docs/index.md has " + ", ".join(missing)


def test_links_lead_somewhere(pages):
    faults = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                faults.append(f"{path.name}: there is no {link}")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{path.name}: {link} has no such place")
    assert not faults, "\n".join(faults)


def test_nothing_is_loaded_from_elsewhere(pages):
    loaded = {link for page in pages.values() for link in page.loaded}
    assert len(loaded) > 5
    assert not [link for link in loaded if urlsplit(link).scheme not in ("", "data")]


@pytest.fixture(scope="module")
def inventory(site) -> dict[str, set[str]]:
    """The names that the site explains, by kind."""
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        found = InventoryFile.load(file, "", lambda base, path: path)
    return {kind: set(names) for kind, names in found.items()}


def test_every_call_and_macro_is_in_the_reference(inventory):
    calls, macros = set(), set()
    for path in calls_table.HEADERS.glob("*.h"):
        header = calls_table.read_header(path.name, path.read_text(encoding="utf-8"))
        calls |= {name for name in header.prototypes if name.startswith("ORIEL_")}
        macros |= set(header.macros)
    assert len(calls) > 80 and len(macros) > 15
    assert calls - inventory["c:function"] == set()
    assert macros - inventory["c:macro"] == set()


def test_every_call_is_in_the_reference_of_fortran_and_cpp(site):
    """In Fortran those with large counts have the same name."""
    calls = calls_table.Table(calls_table.TABLE.read_text(encoding="utf-8")).calls
    ours = [each for call in calls for each in (call, *call.twins) if call.name[:6] == "ORIEL_"]
    page = (site / "reference/fortran.html").read_text(encoding="utf-8")
    assert [each.name for each in ours if not each.large and f">{each.name}<" not in page] == []
    page = (site / "reference/cpp.html").read_text(encoding="utf-8")
    headers = [path.read_text(encoding="utf-8") for path in DOCS.parent.glob("include/oriel/cpp/*")]
    classes = re.findall(r"^class (?:\[\[nodiscard\]\] )?(\w+)", "".join(headers), re.M)
    wrapped = re.findall(r"/\*\* (ORIEL_\w+)", "".join(headers))
    assert len(classes) > 15 and len(wrapped) > 40
    assert [name for name in (*classes, *wrapped) if f">{name}<" not in page] == []


def test_every_python_name_is_in_the_reference(inventory):
    source = (REPOSITORY / "python/oriel/rma/__init__.py").read_text(encoding="utf-8")
    names = re.findall(r'^    "(\w+)",$', source.partition("__all__ = [")[2], re.M)
    functions = [name for name in names if not name.isupper() and name != "PATHS"]
    assert len(functions) > 60
    explained = {
        name.rpartition(".")[2]
        for kind in ("py:function", "py:class")
        for name in inventory.get(kind, ())
    }
    assert [name for name in functions if name not in explained] == []


def test_every_setting_is_in_the_reference(inventory):
    answer = subprocess.run(
        [REPOSITORY / "build/bin/oriel-settings"], capture_output=True, timeout=60, check=True
    )
    names = {each["name"] for each in json.loads(answer.stdout)}
    assert len(names) > 10
    assert names - inventory["std:envvar"] == set()


def test_every_info_key_is_in_the_reference():
    source = (REPOSITORY / "src/mpi/info/window_info.cpp").read_text(encoding="utf-8")
    keys = set(re.findall(r'(?:read_key\(info, |Entry\{)"?(\w+)"?,', source)) - {"key"}
    page = (DOCS / "reference/info_keys.md").read_text(encoding="utf-8")
    assert len(keys) > 15
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


# In a browser


@pytest.mark.parametrize("width", (WIDE, NARROW))
@pytest.mark.parametrize("page", PAGES)
def test_page_fits_the_screen(site, browser, page, width):
    show(browser, site / f"{page}.html", width)
    shots = REPOSITORY / "build" / "docs" / "screenshots"
    save_screenshot(browser, shots / f"{page.replace('/', '-')}-{width}.png")
    check_page(browser, width, "article")


def test_the_guide_has_the_page_of_a_report(site, browser):
    show(browser, site / "guides" / "slow.html", WIDE)
    browser.switch_to.frame(browser.find_element("css selector", "iframe.report"))
    rows = [row.text for row in browser.find_elements("css selector", "tbody tr")]
    browser.switch_to.default_content()
    assert any("Wait at Fence" in row and "plate.c" in row for row in rows), rows


def test_tabs_switch(site, browser):
    """Those of all programs on the page together."""
    show(browser, site / "examples" / "index.html", WIDE)
    shown = "return [...document.querySelectorAll('.sd-tab-content')].filter("
    shown += "each => each.offsetParent !== null).map(each => each.textContent)"
    before = browser.execute_script(shown)
    assert len(before) == 4 and all("#include <oriel/oriel.h>" in each for each in before[:3])
    for label in browser.find_elements("css selector", ".sd-tab-label"):
        if label.text == "Fortran":
            label.click()
            break
    after = browser.execute_script(shown)
    assert len(after) == 4 and all("use mpi_f08" in each for each in after[:3])
    assert "mpifort" in after[3]


def test_search_finds_a_call(site, browser):
    from selenium.webdriver.support.wait import WebDriverWait

    show(browser, site / "search.html", WIDE, "?q=ORIEL_Put_notify")
    found = WebDriverWait(browser, 60).until(
        lambda shown: shown.find_elements("css selector", "#search-results li a")
    )
    targets = [each.get_attribute("href") for each in found]
    assert any("reference/c/notify.html#c.ORIEL_Put_notify" in each for each in targets), targets
