"""A browser without a window: Debian's chromium and chromium-driver, or the tests are skipped."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

_OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--lang=en",
    # A mouse: without a window there is none.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--window-size=1200,900",
]
_TIMERS = """
const start = window.setTimeout, stop = window.clearTimeout, timers = new Map();
let last = 0, isHeld = false;
const run = (timer) => {
  timer.started = start(() => {
    timers.delete(timer.number);
    timer.work();
  }, timer.pause);
};
window.setTimeout = (work, pause) => {
  const timer = { number: --last, work, pause };
  timers.set(timer.number, timer);
  if (!isHeld) run(timer);
  return timer.number;
};
window.clearTimeout = (number) => {
  stop(timers.get(number)?.started ?? number);
  timers.delete(number);
};
window.heldPauses = () => [...timers.values()].filter((timer) => timer.started === undefined);
window.holdPauses = (holds) => {
  isHeld = holds;
  if (!holds) window.heldPauses().forEach(run);
};
"""
"""The page's timers, which a test can hold: what it does takes longer on a slow machine than any pause."""
_Value = TypeVar("_Value")


class Browser:
    """What a person does with the page, and sees of it."""

    def __init__(self, driver: "Chrome") -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        """Open the page as somebody who was never here; it is there when its title has its languages."""
        if self.driver.current_url.startswith(address):
            self.script("localStorage.clear(); sessionStorage.clear()")
        self.complaints()
        self.driver.get(address)
        self.until(lambda: "·" in self.driver.title)
        self.script(_TIMERS)

    @contextmanager
    def pauses_held(self) -> Iterator[None]:
        """No pause that the page makes begins in this block; those that it would have made begin after it."""
        self.script("window.holdPauses?.(true)")
        yield
        self.script("window.holdPauses?.(false)")

    def __getitem__(self, name: str) -> "WebElement":
        return self.driver.find_element("id", name)

    def all(self, selector: str) -> "list[WebElement]":
        """Every element that a CSS selector means."""
        return self.driver.find_elements("css selector", selector)

    def script(self, code: str, *arguments: object) -> Any:
        """Run JavaScript in the page, and wait for what it promises."""
        return self.driver.execute_script(f"return (async () => {{ {code} }})()", *arguments)

    def until(self, condition: Callable[[], _Value], seconds: float = PATIENCE_SECONDS) -> _Value:
        """Wait for something to be true, or not empty."""
        from selenium.common import StaleElementReferenceException
        from selenium.webdriver.support.wait import WebDriverWait

        wait = WebDriverWait(self.driver, seconds, 0.03, [StaleElementReferenceException])
        return wait.until(lambda _: condition())

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def point_at(self, element: "WebElement") -> None:
        """Move the pointer onto an element."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(element).perform()

    def write(self, text: str) -> None:
        """Type a text in place of the one that is there, without a pause."""
        with self.pauses_held():
            self["source"].clear()
            self["source"].send_keys(text)

    def translate(self, text: str, translation: str) -> None:
        """Type a text, and wait until this translation of it is shown."""
        self.write(text)
        self.until(lambda: self["target"].text == translation and not self["status"].text)

    def words(self, pane: str) -> "dict[str, WebElement]":
        """The words in the mirror of the source, or in the target."""
        return {word.get_property("textContent"): word for word in self.all(f"#{pane} .word")}

    def strengths(self, pane: str) -> dict[str, float]:
        """How strongly each marked word is marked."""
        code = "return arguments[0].style.getPropertyValue('--strength')"
        found = {text: self.script(code, word) for text, word in self.words(pane).items()}
        return {text: float(strength) for text, strength in found.items() if strength}

    def complaints(self) -> list[str]:
        """What the browser said of errors since it was last asked, violations of the content policy too."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests; a test that needs a fresh page opens it."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for option in _OPTIONS:
        options.add_argument(option)
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield Browser(chrome)
    chrome.quit()


@pytest.fixture(scope="session")
def axe() -> str:
    """The program of axe-core, which finds what keeps people out: ``npm install --no-save axe-core``."""
    file = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
    if not file.exists():
        pytest.skip("needs axe-core: npm install --no-save axe-core")
    return file.read_text(encoding="utf-8")
