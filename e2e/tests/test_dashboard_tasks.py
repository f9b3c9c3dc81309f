"""Tasks of people in the dashboard, done in a real Chromium."""

from types import SimpleNamespace

import pytest
from playwright.sync_api import Page, expect

from harness.issuer import Issuer
from harness.memgate import KEY
from harness.production import stack_with_gateway_key
from harness.stack import Stack
from harness.wait import until

QUESTION = "What's my budget for the trip?"


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """A stack whose trail keeps words."""
    stack = Stack(tmp_path_factory.mktemp("traced"), {"memory": {"trail": {"content": True}}})
    yield stack
    stack.stop()


def who_told(traced):
    """A user who said what her budget is."""
    ann = traced.person("ann")
    ann.say("My budget for the Hawaii trip is $10,000")
    ann.learn()
    return ann


@pytest.fixture
def ann(traced):
    """Such a user, of whom a test may change what is remembered."""
    return who_told(traced)


@pytest.fixture(scope="module")
def eve(traced):
    """Such a user for the tests that only look."""
    return who_told(traced)


def open_page(page: Page, name: str):
    link = page.get_by_role("navigation").get_by_role("link", name=name, exact=True)
    link.click()
    expect(link).to_have_attribute("aria-current", "page")


def test_a_key_signs_in_and_a_wrong_one_does_not(traced, browser):
    with browser.page(traced.memgate) as page:
        page.goto("/")
        key = page.get_by_label("API key")
        key.fill("wrong")
        key.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("incorrect API key")
        key.fill(KEY)
        key.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("API key")).to_be_visible()
        assert KEY not in page.evaluate("JSON.stringify(sessionStorage) + JSON.stringify(localStorage)")


def test_the_key_of_a_link_that_signs_in_does_not_stay_in_the_address(traced, browser):
    with browser.signed_in(traced.memgate, "ann") as page:
        assert KEY not in page.url
        expect(page.get_by_role("combobox", name="User")).to_have_value("ann")


def test_a_wrong_fact_is_corrected_and_the_next_context_changes(traced, browser, ann):
    with browser.signed_in(traced.memgate, ann.id) as page:
        open_page(page, "Memories")
        page.get_by_role("combobox", name="Type").select_option("semantic")
        page.get_by_role("link", name="My budget for the Hawaii trip is $10,000").click()
        memory = page.get_by_role("article", name="Memory")
        memory.get_by_role("button", name="Edit").click()
        memory.get_by_label("What is remembered").fill("My budget for the Hawaii trip is $12,500")
        memory.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_contain_text(["Saved."])
        expect(memory).to_contain_text("$12,500")
    ann.later().say(QUESTION)
    sent = ann.received()[-1].body
    assert b"$12,500" in sent and b"$10,000" not in sent


def test_a_memory_shows_the_words_it_comes_from_and_what_a_change_changed(traced, browser, ann):
    with browser.signed_in(traced.memgate, ann.id) as page:
        open_page(page, "Memories")
        page.get_by_role("combobox", name="Type").select_option("semantic")
        page.get_by_role("link", name="My budget for the Hawaii trip is $10,000").click()
        memory = page.get_by_role("article", name="Memory")
        expect(memory.get_by_role("blockquote")).to_have_text("My budget for the Hawaii trip is $10,000")
        memory.get_by_role("button", name="Edit").click()
        memory.get_by_label("What is remembered").fill("My budget for the Hawaii trip is $12,500")
        memory.get_by_role("button", name="Save").click()
        history = memory.get_by_role("listitem").filter(has_text="version 2")
        expect(history.get_by_role("deletion")).to_have_text("$10,000")
        expect(history.get_by_role("insertion")).to_have_text("$12,500")


def test_a_session_shows_its_turns_and_what_was_learned_from_each(traced, browser, eve):
    with browser.signed_in(traced.memgate, eve.id) as page:
        open_page(page, "Sessions")
        page.get_by_role("link", name=eve.session).click()
        session = page.get_by_role("article", name="Session")
        expect(session).to_contain_text("My budget for the Hawaii trip is $10,000")
        session.get_by_role("listitem").get_by_role("link", name="My budget for the Hawaii trip").first.click()
        expect(page.get_by_role("article", name="Memory")).to_contain_text("$10,000")


def test_why_a_memory_was_shown_in_a_given_request_is_found(traced, browser, ann):
    asked = ann.later().say(QUESTION)
    request_id = asked.headers["x-memgate-request-id"]
    with browser.signed_in(traced.memgate) as page:
        open_page(page, "Requests")
        page.get_by_label("Request ID").fill(request_id)
        page.get_by_role("button", name="Open").click()
        request = page.get_by_role("article", name="Request")
        expect(request).to_contain_text("added to the prompt")
        expect(request).to_contain_text(QUESTION)
        shown = request.get_by_role("listitem").filter(has_text="presented")
        expect(shown).to_have_count(int(asked.headers["x-memgate-hits"]))
        request.get_by_text("Parts of the score").first.click()
        expect(request.get_by_text("Cosine", exact=True).first).to_be_visible()
        # From there to the memory, whose user is the request's.
        request.get_by_role("link", name="My budget for the Hawaii trip is $10,000").first.click()
        expect(page.get_by_role("article", name="Memory")).to_contain_text("$10,000")
        expect(page.get_by_role("combobox", name="User")).to_have_value(ann.id)


def test_why_something_was_not_remembered_is_found(traced, browser, ann):
    ann.say("My password is Nebel_Kraehe7")
    ann.learn()
    with browser.signed_in(traced.memgate, ann.id) as page:
        open_page(page, "Why not?")
        page.get_by_label("What should have been remembered").fill("My password is Nebel_Kraehe7")
        page.get_by_role("button", name="Find out").click()
        answer = page.get_by_role("region", name="Answer")
        expect(answer).to_contain_text("It was never stored.")
        expect(answer).to_contain_text("refused: secret")


def test_everything_of_one_user_is_deleted_and_gone(traced, browser, ann):
    with browser.signed_in(traced.memgate, ann.id) as page:
        open_page(page, "Memories")
        expect(page.get_by_role("link", name="My budget")).not_to_have_count(0)
        page.get_by_role("button", name="Delete everything").click()
        dialog = page.get_by_role("dialog")
        delete = dialog.get_by_role("button", name="Delete everything")
        expect(delete).to_be_disabled()
        dialog.get_by_label("to confirm").fill(ann.id)
        delete.click()
        expect(page.get_by_text(f"Nothing is remembered of {ann.id}.")).to_be_visible()
    assert ann.memories() == []
    ann.later().say(QUESTION)
    assert b"$10,000" not in ann.received()[-1].body


@pytest.mark.parametrize("end", ["Delete now", "leaving the page"])
def test_a_deletion_can_be_undone_until_it_is_carried_out(traced, browser, ann, end):
    def stored():
        return traced.memgate.memories(ann.id, type="semantic")

    with browser.signed_in(traced.memgate, ann.id) as page:
        def delete():
            link.click()
            page.get_by_role("article", name="Memory").get_by_role("button", name="Delete").click()
            expect(link).to_have_count(0)
            assert len(stored()) == 1

        open_page(page, "Memories")
        page.get_by_role("combobox", name="Type").select_option("semantic")
        link = page.get_by_role("link", name="My budget for the Hawaii trip is $10,000")
        delete()
        page.get_by_role("button", name="Undo").click()
        expect(link).to_have_count(1)
        delete()
        if end == "Delete now":
            page.get_by_role("button", name=end).click()
        else:
            page.goto("/healthz")
        until(lambda: not stored(), "the memory is deleted")


def test_a_wish_about_every_answer_is_added_edited_and_deleted(traced, browser):
    eve = traced.person("eve")

    def stored():
        found = traced.memgate.api("GET", f"/v1/preferences?wishes=true&user_id={eve.id}").json()
        return [wish["content"] for wish in found["wishes"]]

    with browser.signed_in(traced.memgate, eve.id) as page:
        open_page(page, "Memories")
        page.get_by_text("In every answer").click()
        standing = page.get_by_role("group", name="In every answer")
        wish = standing.get_by_label("A wish about every answer")
        wish.fill("see https://acme.example")
        wish.press("Enter")
        expect(page.get_by_text("must be one sentence")).to_be_visible()
        wish.fill("no more romaji")
        wish.press("Enter")
        standing.get_by_role("link", name="no more romaji").click()
        memory = page.get_by_role("article", name="Memory")
        memory.get_by_role("button", name="Edit").click()
        memory.get_by_label("What is remembered").fill("no romaji, only kana")
        memory.get_by_role("button", name="Save").click()
        expect(standing.get_by_role("link", name="no romaji, only kana")).to_be_visible()
        assert stored() == ["no romaji, only kana"]
        memory.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Delete now").click()
        expect(standing.get_by_role("link")).to_have_count(0)
        until(lambda: not stored(), "the wish is deleted")


def test_what_a_message_made_forget_is_restored(traced, browser, ann):
    ann.say("Forget my budget for the Hawaii trip")
    ann.learn()
    assert not ann.knows("$10,000")
    with browser.signed_in(traced.memgate, ann.id) as page:
        open_page(page, "Memories")
        page.get_by_role("region", name="To be forgotten").get_by_role("button", name="Undo").click()
        expect(page.get_by_role("link", name="My budget for the Hawaii trip")).not_to_have_count(0)
    assert ann.knows("$10,000")


def test_a_token_that_envoy_verifies_signs_in_as_its_user(browser, tmp_path):
    issuer = Issuer()
    stack = stack_with_gateway_key(tmp_path, issuer, {"memory": {"identity": {}}})
    try:
        alice, bob = stack.person("alice").id, stack.person("bob").id
        for user, content in ((alice, "Alice likes tea"), (bob, "Bob likes coffee")):
            assert stack.memgate.api("POST", "/v1/memory", {"user_id": user, "content": content}).status == 201
        with browser.page(SimpleNamespace(http_port=stack.envoy.port)) as page:
            page.goto("/dashboard/")
            page.get_by_label("API key").fill(issuer.token(alice))
            page.get_by_label("API key").press("Enter")
            expect(page.get_by_text(f"Memories of {alice}")).to_be_visible()
            expect(page.get_by_role("combobox", name="User")).to_have_count(0)
            open_page(page, "Memories")
            expect(page.get_by_role("main").get_by_role("listitem").get_by_role("link")).to_contain_text(["Alice likes tea"])
            open_page(page, "Playground")
            page.get_by_label("Message of").fill("What do I like to drink?")
            page.get_by_label("Message of").press("Control+Enter")
            expect(page.get_by_role("region", name="Result")).to_contain_text("Decided")
    finally:
        stack.stop()


def test_a_contradiction_is_decided(browser, start):
    stack = start({"memory": {"reconcile": {"policy": "review"}}})
    ann = stack.person("ann")
    for said in ("I live in Lyon.", "I no longer live in Lyon, I moved to Porto."):
        ann.say(said)
        ann.learn()
    assert {memory["status"] for memory in stack.memgate.memories(ann.id, type="semantic")} == {"review"}, stack.memgate.memories(ann.id)
    with browser.signed_in(stack.memgate, ann.id) as page:
        open_page(page, "Memories")
        undecided = page.get_by_role("region", name="Contradictions")
        undecided.get_by_role("button", name="This holds: I no longer live in Lyon, I moved to Porto.").click()
        expect(undecided).to_have_count(0)
    kept = {memory["content"]: memory["status"] for memory in stack.memgate.memories(ann.id, type="semantic")}
    assert kept == {"I no longer live in Lyon, I moved to Porto.": "active"}


def test_the_slowest_step_of_the_last_hour_is_found(traced, browser, ann):
    ann.later().say(QUESTION)
    with browser.signed_in(traced.memgate) as page:
        open_page(page, "Last hour")
        slowest = page.get_by_role("term").filter(has_text="Slowest step").locator("xpath=following-sibling::dd[1]")
        summary = traced.memgate.api("GET", "/admin/recalls/summary").json()
        expect(slowest).to_have_text(max(summary["steps"], key=lambda step: step["p95_ms"])["step"])
        # No user and no content, but the way to the request for those who may see it.
        expect(page.get_by_role("main")).not_to_contain_text(ann.id)
        expect(page.get_by_role("main")).not_to_contain_text("Hawaii")
        page.get_by_role("row").filter(has_text="total").get_by_role("link").click()
        expect(page.get_by_role("article", name="Request")).to_contain_text("Time by step")


def test_the_playground_shows_the_prompt_and_what_another_threshold_changes(traced, browser, eve):
    turns = eve.turns()
    with browser.signed_in(traced.memgate, eve.id) as page:
        open_page(page, "Playground")
        page.get_by_label("Message of").fill(QUESTION)
        page.get_by_label("Message of").press("Control+Enter")
        expect(page.get_by_text("added by memgate")).to_be_visible()
        prompt = page.get_by_role("region", name="The prompt as the model sees it")
        expect(prompt).to_contain_text("$10,000")
        page.get_by_label("Threshold").fill("1")
        result = page.get_by_role("region", name="Result")
        expect(result.get_by_role("listitem").filter(has_text="−")).to_contain_text("$10,000")
        expect(prompt).not_to_contain_text("$10,000")
        page.get_by_role("button", name="As configured").click()
        page.get_by_label("Placement").select_option("last_user")
        expect(result).to_contain_text("in another place of the prompt")
    assert eve.turns() == turns, "nothing is learned from it"


def test_a_call_that_fails_says_why_and_can_be_made_again(traced, browser, eve):
    with browser.signed_in(traced.memgate, eve.id) as page:
        main = page.get_by_role("main")
        # A read that came too often is made again.
        page.route("**/v1/sessions?*", lambda route: route.fulfill(status=429, headers={"retry-after": "0"}), times=1)
        open_page(page, "Sessions")
        expect(main.get_by_role("link", name=eve.session)).to_have_count(1)
        page.route("**/v1/memory?*", lambda route: route.abort())
        open_page(page, "Memories")
        expect(main.get_by_role("alert")).to_contain_text("memgate does not answer")
        page.unroute("**/v1/memory?*")
        main.get_by_role("button", name="Try again").click()
        expect(main.get_by_role("link", name="My budget")).not_to_have_count(0)
        # A gateway before memgate has words of its own.
        page.route("**/admin/jobs?*", lambda route: route.fulfill(status=403, body="RBAC: access denied"))
        open_page(page, "Jobs")
        expect(main.get_by_role("alert")).to_contain_text("may not do that")
        page.route("**/v1/recalls?*", lambda route: route.fulfill(status=401, body="Jwt is expired"))
        # It leads to the sign-in, so that no page is open.
        page.get_by_role("navigation").get_by_role("link", name="Requests", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("not valid any more")
        expect(page.get_by_label("API key")).to_be_visible()


def test_requests_appear_while_the_page_is_open(traced, browser, ann):
    with browser.signed_in(traced.memgate, ann.id) as page:
        open_page(page, "Requests")
        expect(page.get_by_role("link", name="My budget for the Hawaii trip")).to_have_count(1)
        ann.later().say("Where did I want to travel?")
        expect(page.get_by_role("link", name="Where did I want to travel?")).to_have_count(1)


def test_a_users_own_key_shows_that_user_only(traced, browser, eve):
    made = traced.memgate.api("POST", "/admin/keys", {"name": eve.id[:40], "scopes": ["read"], "user_id": eve.id}).json()
    with browser.page(traced.memgate) as page:
        page.goto(f"/#key={made['key']}")
        expect(page.get_by_text(f"Memories of {eve.id}")).to_be_visible()
        expect(page.get_by_role("combobox", name="User")).to_have_count(0)
        expect(page.get_by_role("link", name="Audit log")).to_have_count(0)
        open_page(page, "Memories")
        page.get_by_role("link", name="My budget").first.click()
        expect(page.get_by_role("article", name="Memory")).to_contain_text("$10,000")
        # The key may not write.
        expect(page.get_by_role("button", name="Delete")).to_have_count(0)
