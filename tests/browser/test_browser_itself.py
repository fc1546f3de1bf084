"""The browser of these tests notices what it is there to notice."""

from __future__ import annotations

from pathlib import Path

from support.browser import Browser

HAS_BOTH = '<p>text</p><script>console.error("complaint"); new Image().src = "http://127.0.0.1:9/picture.png"</script>'


def test_complaints_and_requests_are_noticed(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(HAS_BOTH, "utf-8")
    browser.open(page)
    assert browser.one("p").text == "text"
    assert any("complaint" in said for said in browser.console())
    assert "http://127.0.0.1:9/picture.png" in browser.requests()


def test_a_quiet_page_is_quiet(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>text</p>", "utf-8")
    browser.open(page)
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]
