// Why something is not remembered, or not shown.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ofUser } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { ANSWERS } from "../core/names.js";
import { address } from "../core/router.js";
import { score, words } from "../parts/format.js";
import { badge, heading, loaded, time } from "../parts/pieces.js";
import { outcomes } from "../parts/turn.js";

export const title = "Why not?";

const answer = new Resource();

export function view() {
  return html`
    ${heading("Why was something not remembered?")}
    <form class="stack card" @submit=${ask}>
      <label class="field">
        <span>What should have been remembered, in about the words in which it was said</span>
        <textarea name="text" rows="2" required placeholder="My budget for the trip is $10,000"></textarea>
      </label>
      <label class="field">
        <span>The question for which it was missed (optional: searched again)</span>
        <input name="query" placeholder="What is my budget?">
      </label>
      <button class="primary">Find out</button>
    </form>
    <div aria-live="polite">${answer.value.state === "idle" ? nothing : loaded(answer, told)}</div>
  `;
}

function ask(event) {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  const query = String(form.get("query")).trim();
  answer.load(() => ofUser().post("/v1/memory/why", { text: String(form.get("text")).trim(), ...(query && { query }) }));
}

/** What a reader can do next. */
function advice({ answer, reason, score: found, threshold }) {
  switch (answer) {
    case "never_stored":
      return reason ? `Texts like it are refused: ${words(reason)}.` : "Below is what the latest turns did not keep, and why.";
    case "cut":
      return reason === "threshold"
        ? `Its relevance was ${score(found)}, below the threshold of ${score(threshold)}. The playground shows what another threshold would change.`
        : `Left out because: ${words(reason ?? "unknown")}.`;
    case "not_searched":
      return `The decision was ${reason ?? "unknown"}.`;
    case "presented":
      return found === null ? "As a preference, whatever is asked." : `Its relevance was ${score(found)}.`;
    default:
      return "";
  }
}

function told(why) {
  return html`
    <section class="card section" aria-label="Answer">
      <p class="answer">${ANSWERS[why.answer] ?? words(why.answer)}</p>
      ${advice(why) ? html`<p>${advice(why)}</p>` : nothing}
      ${why.memory ? html`<a class="row-link card" href=${address("memories", why.memory.id)}>
        <span dir="auto">${why.memory.content}</span><span class="meta">${badge(why.memory.type)} ${badge(why.memory.status)} ${time(why.memory.updated_at)}</span></a>` : nothing}
      ${why.answer === "superseded" && why.reason ? html`<p><a href=${address("memories", why.reason)}>What replaced it</a></p>` : nothing}
      ${why.request_id ? html`<p><a href=${address("requests", why.request_id)}>The request that this is about</a></p>` : nothing}
      ${(why.turns ?? []).map((turn) => html`<h2>Turn of ${time(turn.at)}</h2>${outcomes(turn.events)}`)}
    </section>
  `;
}
