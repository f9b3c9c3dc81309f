// What recall did for a message: the decision, the candidates with the parts of their scores, the time of each step.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { CUT, DECIDED_BY } from "../core/names.js";
import { address } from "../core/router.js";
import { bars } from "./charts.js";
import { counted, milliseconds, percent, score, words } from "./format.js";
import { badge, decisionBadge, empty, facts } from "./pieces.js";

/** Candidates that were cut and are shown at once: the most relevant. */
const CUT_SHOWN = 6;

export const isShown = (candidate) => candidate.outcome === "presented" || candidate.outcome === "preference";

export function decision(recall) {
  const shown = recall.candidates.filter(isShown).length;
  const by = recall.decided_by ? html` by ${DECIDED_BY[recall.decided_by] ?? words(recall.decided_by)}` : nothing;
  return html`
    <p class="answer">
      ${decisionBadge(recall.decision)}
      ${recall.decision === "searched"
        ? shown ? html`${counted(shown, "memory was", "memories were")} added to the prompt.` : "Nothing relevant enough was found."
        : shown ? html`Memory was not searched; ${counted(shown, "preference was", "preferences were")} added.` : "Nothing was added to the prompt."}
    </p>
    <p class="muted">Decided${by}${recall.need === null ? nothing : html`; probability that memory helps ${percent(recall.need)}`}.
      Threshold ${score(recall.threshold)}, at most ${recall.limit}, ${counted(recall.context_tokens, "token")} added.</p>
    ${recall.query ? query(recall.query) : recall.decision === "searched" ? html`<p class="muted small">The words of the query are not kept (<code>memory.trail.content</code>).</p>` : nothing}
  `;
}

function query({ text, statement, parts = [], rewritten }) {
  const rows = [["Query", text], ["Embedded as", statement], ["Rewritten", rewritten], ["Parts", parts.join(" · ")]];
  return facts(rows);
}

export function candidates(recall) {
  if (recall.candidates.length === 0) return empty("No candidates.", recall.decision === "searched" ? "No memory of this user comes near the question." : "Memory was not searched.");
  const shown = recall.candidates.filter(isShown);
  const cut = recall.candidates.filter((one) => !isShown(one));
  return html`
    <div>${[...shown, ...cut.slice(0, CUT_SHOWN)].map((one) => candidate(one, recall))}</div>
    ${cut.length > CUT_SHOWN
      ? html`<details><summary>${counted(cut.length - CUT_SHOWN, "more candidate")}</summary>${cut.slice(CUT_SHOWN).map((one) => candidate(one, recall))}</details>`
      : nothing}
  `;
}

function candidate(one, { threshold }) {
  const shown = isShown(one);
  const outcome = shown ? badge(one.outcome, "good") : badge(CUT[one.outcome] ?? one.outcome);
  // Preferences are not ranked, nor is what was left out before.
  const isRanked = typeof one.score === "number";
  return html`
    <div class="candidate ${shown ? "" : "cut"}">
      <a class="clamp" dir="auto" href=${address("memories", one.memory_id)}>${one.content ?? one.memory_id}</a>
      ${isRanked ? bars([{ name: outcome, value: one.score, mark: threshold, text: score(one.score), kind: shown ? "" : "quiet" }], 1) : html`<div>${outcome}</div>`}
      ${one.parts ? breakdown(one.parts) : nothing}
    </div>
  `;
}

function breakdown(parts) {
  const added = Object.entries(parts.added ?? {}).map(([name, value]) => [`Order: ${words(name)}`, signed(value)]);
  const evidence = [
    ["Cosine", parts.cosine], ["Less the best cosine", parts.gap], ["Share of rare words", parts.coverage], ["BM25", parts.bm25], ["Length", parts.length], ["With the turn before", parts.window],
  ].filter(([, value]) => typeof value === "number").map(([name, value]) => [name, value.toFixed(2)]);
  return html`
    <details>
      <summary>Parts of the score</summary>
      ${facts([...evidence, ...added])}
    </details>
  `;
}

const signed = (value) => (value > 0 ? `+${value.toFixed(2)}` : value.toFixed(2));

export function steps(recall) {
  const total = recall.steps.find((step) => step.step === "total")?.ms ?? 0;
  const rows = recall.steps.filter((step) => step.step !== "total");
  const slowest = Math.max(...rows.map((step) => step.ms));
  return html`
    ${bars(rows.map((step) => ({ name: step.step, value: step.ms, text: milliseconds(step.ms), kind: step.ms === slowest ? "warn" : "" })), Math.max(total, slowest))}
    <p class="muted small">In all ${milliseconds(total)}. Steps can run at the same time.</p>
  `;
}
