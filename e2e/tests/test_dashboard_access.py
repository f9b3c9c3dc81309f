"""The dashboard works for everybody: without a mouse, in both themes, on narrow and wide windows, with a screen reader."""

import pytest
from playwright.sync_api import Page, expect

from harness.browser import FOLDER, NARROW, WIDE
from harness.memgate import KEY
from harness.stack import Stack

FACTS = ["My budget for the Hawaii trip is $10,000", "My sister Mia lives in Lisbon and works as an architect.",
         "My password is Nebel_Kraehe7"]
QUESTION = "What's my budget for the trip?"
PAGES = ["Overview", "Memories", "Requests", "Sessions", "Playground", "Why not?", "Last hour", "Jobs", "Audit log"]
# The themes differ in their colours only.
RULES = {"light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], "dark": ["color-contrast"]}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A stack with a user of whom something is remembered, and who asked something."""
    stack = Stack(tmp_path_factory.mktemp("told"), {"memory": {"trail": {"content": True}}})
    try:
        ann = stack.person("ann")
        for fact in FACTS:
            ann.say(fact)
        ann.learn()
        ann.later().say(QUESTION)
        yield stack, ann
    finally:
        stack.stop()


def visit(page: Page, name: str):
    """Opens a page and what can be opened in it."""
    if page.get_by_role("button", name="Menu").is_visible():
        page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    if name in ("Memories", "Requests", "Sessions"):
        page.get_by_role("main").get_by_role("listitem").get_by_role("link").first.click()
        expect(page.get_by_role("article")).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
    if name == "Playground":
        page.get_by_label("Message of").fill(QUESTION)
        page.get_by_label("Message of").press("Control+Enter")
        expect(page.get_by_text("added by memgate")).to_be_visible()
    if name == "Why not?":
        page.get_by_label("What should have been remembered").fill(FACTS[-1])
        page.get_by_role("button", name="Find out").click()
        expect(page.get_by_role("region", name="Answer")).to_be_visible()


def faults(page: Page, scheme: str = "light") -> list[str]:
    """What axe-core finds of serious and critical faults."""
    found = page.evaluate("(rules) => axe.run(document, {runOnly: rules}).then((found) => found.violations)", RULES[scheme])
    serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
    return [f"{fault['id']}: {node['html']} {node.get('failureSummary')}" for fault in serious for node in fault["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_page_has_a_serious_fault_or_is_wider_than_its_window(told, browser, size, scheme):
    stack, ann = told
    with browser.signed_in(stack.memgate, ann.id, size=size, scheme=scheme) as page:
        # By the debugger, which the page's security policy does not bind.
        page.evaluate((FOLDER / "axe.min.js").read_text() + "; undefined")
        for name in PAGES:
            visit(page, name)
            assert faults(page, scheme) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name


def test_the_sign_in_page_has_no_serious_fault(told, browser):
    with browser.page(told[0].memgate) as page:
        page.goto("/")
        expect(page.get_by_label("API key")).to_be_visible()
        page.evaluate((FOLDER / "axe.min.js").read_text() + "; undefined")
        assert faults(page) == []


def test_everything_can_be_done_with_the_keyboard(told, browser):
    stack, _ = told
    bob = stack.person("bob")
    bob.say("I prefer window seats on long flights.")
    bob.learn()

    with browser.page(stack.memgate) as page:
        def tab_to(text: str):
            """Presses Tab until the focus is on an element with this name."""
            for _ in range(60):
                page.keyboard.press("Tab")
                name = page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()")
                if name.startswith(text):
                    return
            raise AssertionError(f"Tab never comes to {text}")

        page.goto("/")
        expect(page.get_by_label("API key")).to_be_visible()
        tab_to("API key")
        page.keyboard.type(KEY)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
        tab_to("User")
        page.keyboard.type(bob.id)
        page.keyboard.press("Enter")
        tab_to("Memories")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1, name="Memories")).to_be_focused()
        tab_to("I prefer window seats")
        page.keyboard.press("Enter")
        expect(page.get_by_role("article", name="Memory")).to_be_focused()
        tab_to("Edit")
        page.keyboard.press("Enter")
        expect(page.get_by_label("What is remembered")).to_be_focused()
        page.keyboard.press("Control+A")
        page.keyboard.type("I prefer aisle seats on long flights.")
        tab_to("Save")
        page.keyboard.press("Enter")
        memory = page.get_by_role("article", name="Memory")
        expect(memory).to_contain_text("aisle seats")
        expect(memory).to_be_focused()
        assert bob.knows("I prefer aisle seats")
        tab_to("Delete")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Undo")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="I prefer aisle seats")).not_to_have_count(0)
        expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert bob.knows("I prefer aisle seats")
