// A message as a user would type it, and what a model would receive, without asking one. Nothing is learned or counted.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { signal } from "../../vendor/signals-core/signals-core.js";
import { ofUser } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { user } from "../core/session.js";
import { score } from "../parts/format.js";
import { choice, empty, heading, loaded } from "../parts/pieces.js";
import { candidates, decision, steps } from "../parts/recall.js";
import { changes } from "./playground/changes.js";
import { prompt } from "./playground/prompt.js";

export const title = "Playground";

const rehearsed = new Resource();
/** The same message with the configured settings, to compare with. */
const configured = new Resource();

const UNSET = { threshold: null, limit: null, placement: "", model: "" };
const settings = signal(UNSET);
const said = signal({ message: "", earlier: "" });
/** What `rehearsed` is about; the fields may say something else by now. */
let asked = said.peek();

function request({ threshold, limit, placement, model }) {
  const { message, earlier } = asked;
  const before = earlier.split("\n").map((line) => line.trim()).filter(Boolean);
  return ofUser().post("/v1/context", {
    message,
    ...(before.length > 0 && { earlier: before }),
    ...(threshold !== null && { threshold }),
    ...(limit !== null && { limit }),
    ...(placement && { placement }),
    ...(model && { embedding_model: model }),
  });
}

function ask(event) {
  event?.preventDefault();
  if (!said.peek().message.trim()) return;
  asked = said.peek();
  const usual = request(UNSET);
  configured.load(() => usual, { keep: true });
  rehearsed.load(() => (settings.peek() === UNSET ? usual : request(settings.peek())), { keep: true });
}

/** Asks again where a message was asked already. */
function set(change) {
  settings.value = change === UNSET ? UNSET : { ...settings.peek(), ...change };
  if (rehearsed.data) rehearsed.load(() => request(settings.peek()), { keep: true });
}

export function view() {
  return html`
    ${heading("Playground")}
    <div class="halves">
      <form class="stack card" @submit=${ask}>
        <label class="field">
          <span>Message of ${user.value}</span>
          <textarea rows="3" required .value=${said.value.message} placeholder="What is my budget for the trip?"
            @input=${(event) => (said.value = { ...said.value, message: event.target.value })}
            @keydown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && ask(event)}></textarea>
        </label>
        <details>
          <summary>Earlier messages of the conversation</summary>
          <label class="field"><span>One a line, the oldest first</span>
            <textarea rows="3" .value=${said.value.earlier} @input=${(event) => (said.value = { ...said.value, earlier: event.target.value })}></textarea>
          </label>
        </details>
        ${controls()}
        <div class="row"><button class="primary">Show what a model would get</button><span class="muted small">Ctrl + Enter</span></div>
      </form>
      <div class="stack">
        <section class="card section" aria-label="Result" aria-live="polite">
          ${rehearsed.value.state === "idle"
            ? empty("No model is asked here.", "The message goes through the decision, the search and the ranking of a real request, and stops before the model. Nothing is learned from it.")
            : loaded(rehearsed, ({ recall }) => html`${decision(recall)}${changes(configured.data, rehearsed.data)}`, ask)}
        </section>
        ${rehearsed.data ? seen(rehearsed.data) : nothing}
      </div>
    </div>
    ${rehearsed.data ? how(rehearsed.data) : nothing}
  `;
}

function controls() {
  const { threshold, limit, placement, model } = settings.value;
  const usual = configured.data?.recall ?? rehearsed.data?.recall;
  const [shownThreshold, shownLimit] = [threshold ?? usual?.threshold ?? 0.6, limit ?? usual?.limit ?? 5];
  const isChanged = threshold !== null || limit !== null || placement || model;
  return html`
    <fieldset class="stack plain">
      <legend>Settings of this request</legend>
      <label class="field"><span>Threshold ${score(shownThreshold)}</span>
        <input type="range" min="0" max="1" step="0.05" .value=${String(shownThreshold)} @change=${(event) => set({ threshold: Number(event.target.value) })}>
      </label>
      <label class="field"><span>At most ${shownLimit} memories</span>
        <input type="range" min="1" max="20" step="1" .value=${String(shownLimit)} @change=${(event) => set({ limit: Number(event.target.value) })}>
      </label>
      ${choice("Placement", [["", "As configured"], ["system", "In the system message"], ["before_last_user", "Before the last user message"], ["last_user", "Inside the last user message"]], placement, (name) => set({ placement: name }))}
      ${models(model)}
      ${isChanged ? html`<button type="button" class="quiet" @click=${() => set(UNSET)}>As configured</button>` : nothing}
    </fieldset>
  `;
}

/** Another embedder can be tried where its vectors are stored: of several configured models each one alone. */
function models(chosen) {
  const all = configured.data?.embedding_models ?? [];
  if (all.length === 0) return nothing;
  if (all.length > 1) return choice("Embedding model", [["", "All of them"], ...all.map((name) => [name, `Only ${name}`])], chosen, (name) => set({ model: name }));
  return html`<p class="muted small">Embedding model: <code>${all[0]}</code>. Another one would need a vector of its own for each memory: add it to
    <code>memory.embedding.additional</code> to compare both here.</p>`;
}

const seen = ({ context, messages }) => html`
  <section class="card section" aria-label="The prompt as the model sees it">
    <h2>The prompt as the model sees it</h2>
    ${prompt(messages, context)}
  </section>
`;

const how = ({ recall }) => html`
  <div class="halves">
    <section class="card section"><h2>Candidates</h2>${candidates(recall)}</section>
    <section class="card section"><h2>Time by step</h2>${steps(recall)}</section>
  </div>
`;
