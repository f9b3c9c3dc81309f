// The turns of a session, each with what was learned from it.

import { html } from "../../../vendor/lit-html/lit-html.js";
import { ofUser, sessionPath } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { address } from "../../core/router.js";
import { empty, loaded, time } from "../../parts/pieces.js";
import { outcomes } from "../../parts/turn.js";

const all = new Resource();
let opened = "";

/** @param {string} id the session's */
export function loadTurns(id) {
  opened = id;
  if (!id) return all.clear();
  return all.load(() => ofUser.get(`${sessionPath(id)}/turns`));
}

export function turns() {
  return html`
    <h2>Turns</h2>
    ${loaded(all, ({ turns }) => (turns.length === 0
      ? empty("No turns.", "Turns leave the journal when they are learned from and older than memory.journal.retention_days.")
      : html`<ol class="history">${turns.map(turn)}</ol>`), () => loadTurns(opened))}
  `;
}

const turn = (one) => html`
  <li class="section">
    <p class="meta">${time(one.at ?? one.began_at)}${one.request_id ? html` <a href=${address("requests", one.request_id)}>its request</a>` : ""}</p>
    ${one.user ? html`<blockquote>${one.user}</blockquote>` : ""}
    ${outcomes(one.events ?? [])}
  </li>
`;
