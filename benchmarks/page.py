"""Measure when the page of ``ptenmt serve`` can be used, in headless Chromium, with a latency."""

import argparse
import shutil
import statistics

from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

_OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# The title has its languages when all is connected; then a sentence is typed, whose request is sent at once.
_WATCH = """
new MutationObserver((_, observer) => {
  if (!document.title.includes("·")) return;
  observer.disconnect();
  window.usable = performance.now();
  document.getElementById("source").focus();
  document.execCommand("insertText", false, "Ela vem. ");
}).observe(document, { childList: true, subtree: true, characterData: true });
"""
_REQUESTED = "return performance.getEntriesByName(new URL('translate', location).href)[0]?.startTime"


def main() -> None:
    """Print the times of first visits and of later ones, in milliseconds since the navigation began."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="such as http://127.0.0.1:5000/")
    parser.add_argument("--latency", type=int, default=300, help="milliseconds")
    parser.add_argument("--repeat", type=int, default=7)
    given = parser.parse_args()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for option in _OPTIONS:
        options.add_argument(option)
    chrome = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
    chrome.execute_cdp_cmd("Network.enable", {})
    network = {"offline": False, "latency": given.latency, "downloadThroughput": -1, "uploadThroughput": -1}
    chrome.execute_cdp_cmd("Network.emulateNetworkConditions", network)
    for visit in ("first visit", "later visit"):
        rows = []
        for _ in range(given.repeat):
            if visit == "first visit":
                chrome.execute_cdp_cmd("Network.clearBrowserCache", {})
            chrome.get(given.address)
            requested = WebDriverWait(chrome, 15, 0.05).until(lambda _: chrome.execute_script(_REQUESTED))
            rows.append((chrome.execute_script("return window.usable"), requested))
        for name, times in zip(("usable", "request sent"), zip(*rows, strict=True), strict=True):
            middle, least, most = statistics.median(times), min(times), max(times)
            print(f"{visit}, {name}: {middle:.0f} ms ({least:.0f} to {most:.0f})")
    chrome.quit()


if __name__ == "__main__":
    main()
