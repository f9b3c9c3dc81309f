"""Chromium, which opens the dashboard as a person does. What no page of the dashboard may do fails the test that opened it:
errors, breaches of its security policy, and requests to anything but memgate."""

import contextlib
from pathlib import Path
from typing import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from . import paths
from .memgate import KEY, Memgate

FOLDER = paths.ASSETS / "browser"
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
# The machine is busy: a page that is right shows it in time, a wrong one never does.
PATIENCE_MS = 20_000

# Only the font that comes with the browser, and the machine's for what it lacks: pictures look alike everywhere.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><dir>/usr/share/fonts</dir><cachedir>{cache}</cachedir>
<alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias></fontconfig>"""


class Browser:
    """One Chromium; each page has a context of its own, with empty storage."""

    def __init__(self, chromium):
        self._chromium = chromium

    @contextlib.contextmanager
    def page(self, memgate: Memgate, size: dict = WIDE, scheme: str = "light") -> Iterator[Page]:
        origin = f"http://127.0.0.1:{memgate.http_port}"
        context = self._chromium.new_context(
            base_url=origin, viewport=size, color_scheme=scheme, locale="en-GB", timezone_id="UTC")
        context.set_default_timeout(PATIENCE_MS)
        page, faults = context.new_page(), []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if is_fault(said) else None)
        page.on("request", lambda sent: None if sent.url.startswith(origin) else faults.append(sent.url))
        try:
            yield page
            assert not faults, faults
        finally:
            context.close()

    @contextlib.contextmanager
    def signed_in(self, memgate: Memgate, user: str = "", **options) -> Iterator[Page]:
        """A page that was opened by a link that signs in."""
        with self.page(memgate, **options) as page:
            page.goto(f"/#key={KEY}&user={quote(user)}")
            expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
            yield page


def is_fault(said) -> bool:
    """A refused answer is told to the console, too; the page shows it."""
    return said.type in ("error", "warning") and not said.text.startswith("Failed to load resource")


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Chromium, with its files in `folder`."""
    if not (FOLDER / "chromium").is_file():
        pytest.skip("there is no browser: run `cargo xtask assets --only browser`, which needs npm")
    fonts = folder / "fonts.conf"
    fonts.write_text(FONTS.format(fonts=FOLDER / "fonts", cache=folder / "fonts"))
    environment = {"FONTCONFIG_FILE": str(fonts), "LD_LIBRARY_PATH": str(FOLDER / "lib"), "HOME": str(folder)}
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=FOLDER / "chromium", args=["--no-sandbox", "--font-render-hinting=none"], env=environment)
        try:
            yield Browser(started)
        finally:
            started.close()
