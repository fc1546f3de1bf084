"""README and docs as a site: every link leads somewhere, every page is in the navigation, nobody else is asked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from site_links import Page, dead

ROOT = Path(__file__).parent.parent
BUILD = (sys.executable, str(ROOT / "tools" / "build_site.py"))
BASE = "https://example.org/archcalc/"
NAMES = sorted(page.stem for page in (*ROOT.glob("docs/*.md"), *ROOT.glob("[A-Z]*.md")))
LOADED = re.compile(
    r"""<(?:script|img|iframe)[^>]*\ssrc="([^"]*)|<link\s(?![^>]*"canonical")[^>]*href="([^"]*)|url\(["']?([^)"']*)"""
)


def built(out: Path, *options: str) -> Path:
    done = subprocess.run([*BUILD, str(out), "--pages", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("host") / "site", "--base", BASE.rstrip("/"))


def test_no_link_is_dead(site: Path) -> None:
    """To pages, to places on them, to pictures and to files of the repository."""
    assert dead(site) == []
    assert sum(len(Page(page.read_text("utf-8")).addresses) for page in site.glob("*.html")) > 1000


@pytest.mark.parametrize(
    "address", ["nowhere.html", "fit.html#nowhere", "#nowhere", "pictures/none.svg", "../fit.html"]
)
def test_a_dead_link_is_found(tmp_path: Path, address: str) -> None:
    alive = '<a href="fit.html#here">fit</a> <a href="https://example.org/none">elsewhere</a>'
    (tmp_path / "fit.html").write_text('<h1 id="here">fit</h1>', "utf-8")
    (tmp_path / "index.html").write_text(f'{alive} <a href="{address}">there</a>', "utf-8")
    assert dead(tmp_path) == [f"index.html: {address}"]


def test_every_page_of_the_repository_is_a_page_of_the_site_and_in_its_navigation(site: Path) -> None:
    front = (site / "index.html").read_text("utf-8")
    sidebar = front[front.index("sidebar-tree") : front.index('class="main"')]
    listed = re.findall(r'class="reference internal" href="([\w-]+)\.html"', sidebar)
    assert sorted([*listed, "index"]) == NAMES
    captions = re.findall(r'caption-text">([^<]*)<', sidebar)
    assert captions == ["First steps", "Lessons", "Reference", "How it is built"]


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    """No script, style, font or picture of another host."""
    files = [file for file in site.rglob("*") if file.suffix in (".html", ".css")]
    found = {"".join(address) for file in files for address in LOADED.findall(file.read_text("utf-8"))}
    assert len(found) > 20
    assert {address for address in found if re.match(r"(?:[a-z]+:)?//", address)} == set()


@pytest.mark.parametrize("name", ["index", "fit", "README"])
def test_a_page_says_where_it_stands(site: Path, name: str) -> None:
    assert f'<link rel="canonical" href="{BASE}{name}.html">' in (site / f"{name}.html").read_text("utf-8")


def test_words_of_every_page_can_be_searched(site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    found = re.search(r'docnames:\[([^\]]*)\]|"docnames":\s*\[([^\]]*)\]', index)
    assert found and sorted(re.findall(r'"([^"]+)"', found[0].partition("[")[2])) == NAMES


def test_without_a_base_no_page_claims_an_address(tmp_path: Path) -> None:
    site = built(tmp_path / "site")
    assert not any("canonical" in page.read_text("utf-8") for page in site.glob("*.html"))
    assert not (site / "explorer").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--base", "example.org"), "not an address"), (("--base", "ftp://example.org"), "not an address")],
)
def test_a_base_that_is_no_address_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = subprocess.run([*BUILD, str(tmp_path / "site"), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "site").exists()
