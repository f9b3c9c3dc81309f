// The sessions of a user, their turns, and what was learned from each.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ofUser, sessionPath } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { address, route } from "../core/router.js";
import { mayWrite, user } from "../core/session.js";
import { counted } from "../parts/format.js";
import { notify } from "../parts/notices.js";
import { badge, empty, heading, loaded, time } from "../parts/pieces.js";
import { loadTurns, turns } from "./sessions/turns.js";

export const title = "Sessions";

const PAGE = 50;
const sessions = new Resource();

const load = () => sessions.load(() => ofUser().get("/v1/sessions", { limit: PAGE }), { keep: true });

export function enter(at) {
  if (!user.peek()) return;
  load();
  loadTurns(at.id);
}

async function more() {
  const { sessions: before, next_cursor } = sessions.data;
  try {
    const page = await ofUser().get("/v1/sessions", { limit: PAGE, cursor: next_cursor });
    sessions.set({ sessions: [...before, ...page.sessions], next_cursor: page.next_cursor });
  } catch (error) {
    notify(error.message, "bad");
  }
}

export function view(at) {
  return html`
    ${heading("Sessions")}
    <div class="split ${at.id ? "with-detail" : ""}">
      <section aria-label="List">${loaded(sessions, list, load)}</section>
      ${at.id ? detail(at.id) : nothing}
    </div>
  `;
}

function list({ sessions: all, next_cursor }) {
  if (all.length === 0) return empty(`${user.value} has no sessions.`, "A session begins with the first turn that is learned from.");
  return html`
    <ul class="rows">${all.map(row)}</ul>
    ${next_cursor ? html`<button @click=${more}>Show more</button>` : nothing}
  `;
}

const row = (session) => html`
  <li>
    <a class="row-link" href=${address("sessions", session.id)} aria-current=${route.value.id === session.id ? "true" : nothing}>
      <span class="clamp"><code>${session.id}</code></span>
      <span class="meta">${session.ended_at ? badge("ended") : badge("open", "good")} <span>${counted(session.turns, "turn")}</span> ${time(session.active_at)}</span>
    </a>
  </li>
`;

function detail(id) {
  const session = sessions.data?.sessions.find((one) => one.id === id);
  return html`
    <article class="detail card" tabindex="-1" aria-label="Session">
      <a class="back" href=${address("sessions")}>Back to the list</a>
      <h2><code>${id}</code></h2>
      ${session ? html`<p class="meta"><span>Began ${time(session.started_at)}</span><span>${session.ended_at ? html`ended ${time(session.ended_at)}` : html`last active ${time(session.active_at)}`}</span></p>` : nothing}
      ${session && !session.ended_at && mayWrite.value ? html`<div class="row"><button @click=${() => end(id)}>End the session</button></div>` : nothing}
      ${turns()}
    </article>
  `;
}

async function end(id) {
  try {
    await ofUser().post(`${sessionPath(id)}/end`);
    notify("The session is ended; its summary is being written.");
    load();
  } catch (error) {
    notify(error.message, "bad");
  }
}
