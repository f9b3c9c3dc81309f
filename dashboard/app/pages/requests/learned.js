// What was learned from the turn of a request.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { get, turnPath } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { outcomes } from "../../parts/turn.js";
import { empty } from "../../parts/pieces.js";

const turn = new Resource();

/** @param {string} id the request's */
export const loadLearned = (id) => turn.load(() => get(turnPath(id)));

export function learned() {
  const { state, data, error } = turn.value;
  if (data) return html`<h2>What was learned from it</h2>${outcomes(data.events)}`;
  if (state !== "failed") return nothing;
  const hint = error.status === 404 ? "Nothing of this turn is in the trail: it opted out, did not end well, or is being learned from." : error.message;
  return html`<h2>What was learned from it</h2>${empty("Nothing yet.", hint)}`;
}
