// Small pieces that several pages show.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ago, date, words } from "./format.js";

/** A heading with what can be done beside it. */
export const heading = (title, actions = nothing) =>
  html`<div class="heading"><h1 tabindex="-1">${title}</h1><div class="row">${actions}</div></div>`;

/** @param {string} text @param {string} [kind] a class that colours it */
export const badge = (text, kind = "") => html`<span class="badge ${kind}">${words(text)}</span>`;

/** A time, with the exact one where a pointer rests. @param {string} at */
export const time = (at) => html`<time datetime=${at} title=${date(at)}>${ago(at)}</time>`;

/** Decisions by their meaning, for their colour. @param {string} decision */
export function decisionKind(decision) {
  if (decision === "searched") return "accent";
  return decision.startsWith("failed") ? "bad" : "";
}

export const decisionBadge = (decision) => badge(decision.replace(":", ": "), decisionKind(decision));

/** A page's data once it is there; before that a placeholder, and its error with a way to try again. */
export function loaded(resource, view, retry) {
  const { state, data, error } = resource.value;
  const failure = state === "failed" ? failed(error, retry) : nothing;
  if (data !== undefined) return html`${failure}${view(data)}`;
  if (state === "failed") return failure;
  return html`<div class="waiting" role="status" aria-busy="true" aria-label="Loading"><span></span><span></span><span></span></div>`;
}

export const failed = (error, retry) => html`
  <div class="note bad" role="alert">
    <p>${error.message}</p>
    ${retry ? html`<button @click=${retry}>Try again</button>` : nothing}
  </div>
`;

/** What stands where there is nothing to show, and what to do about it. */
export const empty = (text, hint = nothing) => html`<div class="empty"><p>${text}</p><p class="muted">${hint}</p></div>`;

/** Names and values. @param {[string, unknown][]} rows those without a value are left out */
export const facts = (rows) => html`
  <dl class="facts">
    ${rows
      .filter(([, value]) => value && value !== nothing)
      .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>
`;

/** A choice of values; the first option stands for all. */
export const choice = (label, options, value, change) => html`
  <label class="field">
    <span>${label}</span>
    <select .value=${value} @change=${(event) => change(event.target.value)}>
      ${options.map(([name, text]) => html`<option value=${name} ?selected=${name === value}>${text}</option>`)}
    </select>
  </label>
`;

/** A figure with its name. */
export const figure = (name, value, more = nothing, kind = "") => html`
  <div class="figure ${kind}">
    <dt>${name}</dt>
    <dd>${value}</dd>
    ${more === nothing ? nothing : html`<dd class="muted small">${more}</dd>`}
  </div>
`;

/** What stands where a user has to be chosen first. */
export const whose = () => empty("Whose? Memories belong to users.", html`Enter a user's ID, as your application sends it: the one
  in a verified token, or <code>x-authz-user-id</code> in development.`);
