"""The explorer's page as a test drives it: what a person reads, types and clicks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from support.browser import Browser

T = TypeVar("T")
READY = """
const waiting = [...document.querySelectorAll(".tile-value")].some(value => value.textContent === "…");
return !document.querySelector("#page").hidden && !document.querySelector("[aria-busy=true]") && !waiting;
"""
SELECT = "const area = arguments[0]; const at = area.value.indexOf(arguments[1]); area.focus();"
SELECT += "area.setSelectionRange(at, at + arguments[1].length); return at"
CELLS = """
const rows = [...document.querySelectorAll(arguments[0])];
return rows.map(row => [...row.cells].map(cell => cell.textContent));
"""
DROP = """
const data = new DataTransfer();
data.items.add(new File([arguments[1]], arguments[0]));
document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
"""


class Explorer:
    """A page that was opened at an address with a token."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, fragment: str = "") -> None:
        """In a page that knows nothing of those before it."""
        self.browser.open("about:blank")
        self.browser.open(self.address + fragment)
        self.settle()

    def settle(self) -> None:
        """Until every answer is there."""
        self.browser.until(lambda: self.browser.script(READY) or None)

    def until(self, holds: Callable[[], T | None]) -> T:
        return self.browser.until(holds)

    def one(self, selector: str) -> WebElement:
        return self.browser.one(selector)

    def text(self, selector: str) -> str:
        """In one step, since answers that come replace elements."""
        return str(self.browser.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def value(self, selector: str) -> str:
        return str(self.browser.one(selector).get_property("value"))

    def click(self, selector: str) -> None:
        self.browser.one(selector).click()

    def tile(self, view: str) -> str:
        """An answer at the top: overview, flops, memory or devices."""
        return self.written(f"[data-tile={view}] .tile-value")

    def written(self, selector: str) -> str:
        """As archcalc says it: on the page its first letter is a capital."""
        return str(self.browser.script("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    def say(self, selector: str, text: str) -> None:
        """Wait until an element says this."""
        self.until(lambda: text in self.text(selector) or None)

    def tile_says(self, view: str, text: str) -> None:
        self.until(lambda: text in self.written(f"[data-tile={view}]") or None)

    def view(self, name: str) -> None:
        self.click(f"#views [data-view={name}]")
        self.settle()

    def choose(self, typed: str) -> None:
        """A preset, by typing a part of its name and Enter."""
        self.click("#model-preset")
        self.one("#model-preset").send_keys(typed, Keys.ENTER)

    def edit(self, old: str, new: str, area: str = "#model-spec") -> None:
        """Select a stretch of the spec and type another one."""
        assert self.browser.script(SELECT, self.one(area), old) >= 0
        self.one(area).send_keys(new or Keys.DELETE)

    def fill(self, selector: str, text: str) -> None:
        field = self.one(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text or Keys.DELETE)

    def drop(self, name: str, text: str) -> None:
        self.browser.script(DROP, name, text)

    def download_into(self, folder: Path) -> None:
        where = {"behavior": "allow", "downloadPath": str(folder)}
        self.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)

    def keys(self, *keys: str) -> None:
        """To whatever has the focus."""
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def focused(self) -> str:
        return str(self.browser.script("return document.activeElement.id"))

    def table(self, name: str) -> list[list[str]]:
        """The cells of a table, without what stands beneath its rows."""
        rows: Any = self.browser.script(CELLS, f"[data-table={name}] tbody tr:not(.under)")
        return list(rows)
