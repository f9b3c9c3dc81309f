"""The pictures of docs/dashboard.md, made of a story. They are written with UPDATE_EXPECT=1; without it the story and the pages
are tested, and that each picture of the document is one of these."""

import json
import os
import re
from datetime import datetime, timedelta, timezone

import pytest
from playwright.sync_api import Page, expect

from harness import http, paths
from harness.browser import NARROW
from harness.memgate import BEARER
from harness.stack import Person, Stack

DOCS = paths.REPOSITORY / "docs"
USER = "maria"
# What was told on other days: how many days ago, the type, and what is remembered.
TOLD = [
    (13, "semantic", "I work as a nurse at the Charité in Berlin."),
    (13, "semantic", "My sister Mia lives in Lisbon and works as an architect."),
    (11, "procedural", "When I ask about recipes, give grams."),
    (10, "episodic", "We visited Mia in Lisbon over Easter."),
    (9, "semantic", "I am allergic to nuts."),
    (6, "semantic", "I take Portuguese lessons on Thursdays."),
    (6, "episodic", "The first lesson was cancelled."),
    (5, "semantic", "I run ten kilometres on Sundays."),
    (2, "semantic", "My brother Jonas moves to Vienna in spring."),
    (1, "procedural", "Keep packing lists short."),
]
SAID = ["My budget for the Hawaii trip is $10,000", "I prefer window seats on long flights.", "My password is Nebel_Kraehe7"]
ASKED = ["Hi there!", "Where does my sister live?", "What is the capital of France?", "Can I eat pad thai with peanuts?",
         "Which seat should you book for me?", "What's my budget for the trip?"]
# Of another user, who contradicts herself.
MOVER = "lea"
MOVED = ["I live in Lyon.", "I no longer live in Lyon, I moved to Porto."]
# Of others, who are on the operator's page only.
OTHERS = {
    "jonas": ["I am training for a marathon in October.", "When is my marathon?", "Thanks!"],
    "emma": ["My favourite tea is rooibos.", "Which tea should I buy again?", "Write a haiku about rain."],
}


@pytest.fixture(scope="module")
def maria(tmp_path_factory):
    """A stack with a few users, and one of them with two weeks of memories."""
    config = {"memory": {"trail": {"content": True}, "reconcile": {"policy": "review"}}}
    stack = Stack(tmp_path_factory.mktemp("story"), config)
    try:
        remember(stack)
        stack.double.script({"contains": "", "reply": "Noted."})
        for user, said in OTHERS.items():
            for text in said:
                Person(stack, user, "at-work").say(text)
        moving = Person(stack, MOVER, "moving")
        for said in MOVED:
            moving.say(said)
            moving.learn()
        maria = Person(stack, USER, "planning-the-trip")
        for said in SAID:
            maria.say(said)
        maria.learn()
        asking = Person(stack, USER, "another-day")
        for question in ASKED:
            asking.say(question)
        maria.learn()
        yield maria
    finally:
        stack.stop()


def remember(stack):
    """Stores what was told on other days: exported, dated and imported, as a backup would be."""
    for _, kind, content in TOLD:
        told = {"user_id": "template", "type": kind, "content": content, "source": "explicit_user_input"}
        assert stack.memgate.api("POST", "/v1/memory", told).status == 201
    exported = stack.memgate.api("GET", "/v1/memory/export?user_id=template").body.decode()
    ago = {content: days for days, _, content in TOLD}

    def dated(line: dict) -> dict:
        if owner := line.get("export", {}).get("owner"):
            owner["user"] = USER
        if memory := line.get("memory"):
            at = datetime.now(timezone.utc) - timedelta(days=ago[memory["content"]])
            memory["owner"]["user"] = USER
            memory["created_at"] = memory["updated_at"] = at.isoformat().replace("+00:00", "Z")
        return line

    lines = (json.loads(line) for line in exported.splitlines())
    lines = [json.dumps(dated(line)) for line in lines if "mark" not in line]
    imported = http.request(stack.memgate.http_port, "POST", f"/v1/memory/import?user_id={USER}", "\n".join(lines) + "\n",
                            {**BEARER, "content-type": "application/x-ndjson"}).json()
    assert imported["written"] == len(TOLD), imported


def overview(page: Page):
    expect(page.get_by_role("img", name="Memories of the last 14 days, by type")).to_be_visible()


def request(page: Page):
    page.goto("/#/requests")
    page.get_by_role("link", name="What's my budget for the trip?").click()
    expect(page.get_by_role("article", name="Request")).to_contain_text("added to the prompt")
    expect(page.get_by_text("What was learned from it")).to_be_attached()


def memory(page: Page):
    page.goto("/#/memories?q=budget")
    page.get_by_role("main").get_by_role("link", name="My budget for the Hawaii trip is $10,000").first.click()
    article = page.get_by_role("article", name="Memory")
    expect(article).to_contain_text("Where it comes from")


def contradiction(page: Page):
    page.goto("/#/memories")
    undecided = page.get_by_role("region", name="Contradictions")
    expect(undecided.get_by_role("button", name=f"This holds: {MOVED[-1]}")).to_be_visible()


def session(page: Page):
    page.goto("/#/sessions/planning-the-trip")
    article = page.get_by_role("article", name="Session")
    expect(article.get_by_role("link", name=SAID[0]).first).to_be_visible()


def playground(page: Page):
    page.goto("/#/playground")
    page.get_by_label("Message of").fill("Which seat should you book for me?")
    page.get_by_label("Message of").press("Control+Enter")
    expect(page.get_by_text("added by memgate")).to_be_visible()
    page.get_by_label("Placement").select_option("last_user")
    expect(page.get_by_text("in another place of the prompt")).to_be_visible()


def why(page: Page):
    page.goto("/#/why")
    page.get_by_label("What should have been remembered").fill(SAID[-1])
    page.get_by_role("button", name="Find out").click()
    expect(page.get_by_role("region", name="Answer")).to_contain_text("It was never stored.")


def operator(page: Page):
    page.goto("/#/operator")
    expect(page.get_by_text("The slowest requests")).to_be_visible()


PICTURES = {
    "overview": (overview, {}),
    "request": (request, {}),
    "memory": (memory, {"scheme": "dark"}),
    "contradiction": (contradiction, {"user": MOVER}),
    "session": (session, {"scheme": "dark"}),
    "playground": (playground, {}),
    "why": (why, {"size": NARROW}),
    "operator": (operator, {"scheme": "dark"}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_shows_the_story(maria, browser, name):
    show, options = PICTURES[name]
    with browser.signed_in(maria.stack.memgate, **{"user": USER, **options}) as page:
        show(page)
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        picture = page.screenshot(animations="disabled", caret="hide")
    if os.environ.get("UPDATE_EXPECT"):
        (DOCS / "pictures").mkdir(exist_ok=True)
        (DOCS / "pictures" / f"{name}.png").write_bytes(picture)


def test_the_document_shows_each_picture():
    shown = re.findall(r"\]\(pictures/(\w+)\.png\)", (DOCS / "dashboard.md").read_text())
    assert sorted(shown) == sorted(PICTURES)
    assert {file.stem for file in (DOCS / "pictures").iterdir()} == set(PICTURES)
