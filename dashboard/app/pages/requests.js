// The latest requests of a user, as they come, and what recall did for one of them.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { signal } from "../../vendor/signals-core/signals-core.js";
import { follow, get, ofUser, recallPath } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { address, go, route } from "../core/router.js";
import { chooseUser, owner, tenant, user } from "../core/session.js";
import { points } from "../parts/charts.js";
import { clock, counted, milliseconds } from "../parts/format.js";
import { decisionBadge, decisionKind, empty, failed, heading, loaded, time, whose } from "../parts/pieces.js";
import { candidates, decision, isShown, steps } from "../parts/recall.js";
import { withContents } from "./requests/contents.js";
import { learned, loadLearned } from "./requests/learned.js";

export const title = "Requests";

const NEWEST = 50;

const recalls = new Resource();
const opened = new Resource();
const live = signal(true);

const load = () => recalls.load(() => ofUser().get("/v1/recalls", { limit: NEWEST }), { keep: true });

export function enter(at) {
  if (at.id) open(at.id);
  else opened.clear();
  if (!user.peek()) return undefined;
  watch();
  return () => unwatch();
}

let unwatch = () => {};

/** Reads the list again whenever a request was decided. */
function watch() {
  unwatch();
  if (live.peek()) unwatch = follow("/v1/decisions/stream", owner(), load);
  else load();
}

function setLive(event) {
  live.value = event.target.checked;
  watch();
}

/** An id alone is enough where the key reaches its user, who is then the one whose requests are listed. */
function open(id) {
  if (opened.data?.request_id === id) return;
  loadLearned(id);
  opened.load(async () => {
    const recall = await get(recallPath(id));
    // A session without a user has no list.
    const isOthers = recall.user_id !== user.peek() || (recall.tenant_id ?? tenant.peek()) !== tenant.peek();
    const isAnothers = recall.user_id && isOthers;
    if (isAnothers) chooseUser(recall.user_id, recall.tenant_id);
    return withContents(recall);
  });
}

const total = (recall) => recall.steps.find((step) => step.step === "total")?.ms ?? 0;

export function view(at) {
  const toggle = html`<label class="field inline"><input type="checkbox" .checked=${live.value} @change=${setLive}><span>Live</span></label>`;
  return html`
    ${heading("Requests", html`${find()}${toggle}`)}
    <div class="split ${at.id ? "with-detail" : ""}">
      <section aria-label="Latest requests">${user.value ? loaded(recalls, ({ recalls }) => list(recalls), load) : whose()}</section>
      ${at.id ? detail() : nothing}
    </div>
  `;
}

function find() {
  const open = (event) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("id")).trim();
    if (id) go("requests", id);
  };
  return html`<form class="row" role="search" aria-label="Request" @submit=${open}>
    <input name="id" aria-label="Request ID" placeholder="x-memgate-request-id" spellcheck="false" autocomplete="off"><button>Open</button>
  </form>`;
}

function list(all) {
  if (all.length === 0) {
    return empty(`No request of ${user.value} is in the trail.`,
      html`The latest requests are kept in memory until memgate restarts. <a href=${address("playground")}>Try a message</a> without asking a model.`);
  }
  return html`
    ${all.length > 2 ? html`<div class="card">${latencies(all)}</div>` : nothing}
    <ul class="rows">${repeat(all, (recall) => recall.request_id, row)}</ul>
    ${all.length === NEWEST ? html`<p class="muted small">The latest ${NEWEST}.</p>` : nothing}
  `;
}

function latencies(all) {
  const plotted = all.map((recall) => ({
    at: new Date(recall.at).getTime(),
    value: total(recall),
    title: `${clock(recall.at)}, ${recall.decision}, ${milliseconds(total(recall))}`,
    href: address("requests", recall.request_id),
    kind: decisionKind(recall.decision),
  }));
  return points(plotted, milliseconds, "Added time of each request");
}

function row(recall) {
  const shown = recall.candidates.filter(isShown).length;
  return html`
    <li>
      <a class="row-link" href=${address("requests", recall.request_id)} aria-current=${route.value.id === recall.request_id ? "true" : nothing}>
        <span class="clamp" dir="auto">${recall.query?.text ?? html`<code>${recall.request_id}</code>`}</span>
        <span class="meta">${decisionBadge(recall.decision)}
          <span>${counted(shown, "memory", "memories")} shown</span><span>${milliseconds(total(recall))}</span>${time(recall.at)}</span>
      </a>
    </li>
  `;
}

function detail() {
  return html`
    <article class="detail card" tabindex="-1" aria-label="Request">
      <a class="back" href=${address("requests")}>Back to the list</a>
      ${opened.value.state === "failed" ? missing(opened.value.error) : loaded(opened, whole)}
      ${opened.data ? learned() : nothing}
    </article>
  `;
}

const missing = (error) =>
  error.status === 404
    ? empty("This request is not in the trail.", "It belongs to another user, was not seen by this memgate, or is older than what is kept (memory.trail.requests).")
    : failed(error);

function whole(recall) {
  return html`
    <p class="meta">${time(recall.at)} <code>${recall.request_id}</code></p>
    <div class="section">${decision(recall)}</div>
    <h2>Candidates</h2>${candidates(recall)}
    <h2>Time by step</h2>${steps(recall)}
  `;
}
