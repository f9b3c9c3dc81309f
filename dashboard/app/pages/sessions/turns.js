// The turns of a session, each with what was learned from it.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { ofUser, sessionPath } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { address } from "../../core/router.js";
import { notify } from "../../parts/notices.js";
import { badge, empty, loaded, time } from "../../parts/pieces.js";

const PAGE = 20;
const all = new Resource();
let opened = "";

/** @param {string} id the session's */
export function loadTurns(id) {
  opened = id;
  if (!id) return all.clear();
  return all.load(() => page(id));
}

const page = (id, cursor) => ofUser().get(`${sessionPath(id)}/turns`, { limit: PAGE, cursor });

async function more() {
  const { turns, next_cursor } = all.data;
  try {
    const next = await page(opened, next_cursor);
    all.set({ turns: [...turns, ...next.turns], next_cursor: next.next_cursor });
  } catch (error) {
    notify(error.message, "bad");
  }
}

export function turns() {
  return html`
    <h2>Turns</h2>
    ${loaded(all, ({ turns, next_cursor }) => (turns.length === 0
      ? empty("No turns.", "They leave the journal when they are learned from and older than memory.journal.retention_days.")
      : html`<ol class="history">${turns.map(turn)}</ol>${next_cursor ? html`<button @click=${more}>Show more</button>` : nothing}`), () => loadTurns(opened))}
  `;
}

const turn = (one) => html`
  <li class="section">
    <p class="meta">${time(one.at)}${one.request_id ? html`<a href=${address("requests", one.request_id)}>Its request</a>` : nothing}</p>
    <p dir="auto">${one.user}</p>
    ${one.assistant ? html`<blockquote class="clamp" dir="auto">${one.assistant}</blockquote>` : nothing}
    ${one.learned.length > 0
      ? html`<ul class="outcomes">${one.learned.map((memory) => html`
          <li>${badge(memory.sub_type ?? memory.type, memory.status === "active" ? "good" : "")}<a dir="auto" href=${address("memories", memory.id)}>${memory.content}</a></li>`)}</ul>`
      : html`<p class="muted small">Nothing was learned from it.</p>`}
  </li>
`;
