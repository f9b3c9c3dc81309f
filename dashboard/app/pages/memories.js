// A user's memories: search, filters, and one of them beside the list.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { ofUser } from "../core/api.js";
import { STATUS } from "../core/names.js";
import { Resource } from "../core/resource.js";
import { address, refine, route } from "../core/router.js";
import { mayWrite, owner, user } from "../core/session.js";
import { counted, score, words } from "../parts/format.js";
import { notify } from "../parts/notices.js";
import { badge, choice, empty, heading, loaded, time } from "../parts/pieces.js";
import { contradictions, loadContradictions } from "./memories/contradictions.js";
import { confirmDeletion, deleteEverything } from "./memories/delete_all.js";
import { detail, hidden, open } from "./memories/detail.js";
import { forgettings, loadForgettings } from "./memories/forgettings.js";
import { loadStanding, standing } from "./memories/standing.js";

const PAGE = 50;

const found = new Resource();
const stats = new Resource();
/** What `found` was asked for; the address changes with every memory that is opened, and the list stays. */
let asked = "";

export const title = "Memories";

export function enter(at) {
  const { q = "", type = "", status = "", entity = "" } = at.query;
  const ask = JSON.stringify([owner(), q, type, status, entity]);
  if (user.peek() && ask !== asked) {
    asked = ask;
    hidden.value = new Set();
    load();
  }
  open(at.id);
}

function load() {
  found.load(fetchPage);
  stats.load(() => ofUser().get("/v1/memory/stats"), { keep: true });
  loadForgettings();
  loadContradictions();
  loadStanding();
}

async function fetchPage(cursor) {
  const { q, type, status, entity } = route.peek().query;
  if (!q) return ofUser().get("/v1/memory", { type, status, entity, limit: PAGE, cursor });
  const types = type ? [type] : undefined;
  const filter = entity ? { entity } : undefined;
  const { hits } = await ofUser().post("/v1/memory/search", { query: q, types, filter, threshold: 0, limit: PAGE });
  return { memories: hits.map((hit) => ({ ...hit.memory, relevance: hit.score })), next_cursor: null };
}

async function more() {
  const { memories, next_cursor } = found.data;
  try {
    const page = await fetchPage(next_cursor);
    found.set({ memories: [...memories, ...page.memories], next_cursor: page.next_cursor });
  } catch (error) {
    notify(error.message, "bad");
  }
}

export function view(at) {
  return html`
    ${heading("Memories", mayWrite.value && stats.data?.total ? html`<button class="quiet" @click=${confirmDeletion}>Delete everything…</button>` : nothing)}
    ${filters(at.query)}
    ${forgettings(changed)}
    ${contradictions(changed)}
    ${standing(changed)}
    <div class="split ${at.id ? "with-detail" : ""}">
      <section aria-label="List">${loaded(found, list, load)}</section>
      ${at.id ? detail(changed) : nothing}
    </div>
    ${deleteEverything(stats.data?.total ?? 0, load)}
  `;
}

/** A memory was edited or deleted. */
function changed() {
  asked = "";
  enter(route.peek());
}

function filters(query) {
  const types = new Set([...Object.keys(stats.data?.by_type ?? {}), ...(query.type ? [query.type] : [])]);
  const select = (event) => {
    event.preventDefault();
    refine({ q: String(new FormData(event.currentTarget).get("q")).trim() });
  };
  return html`
    <form class="filters" role="search" aria-label="Memories" @submit=${select}>
      <label class="field grow">
        <span>Search</span>
        <input type="search" name="q" .value=${query.q ?? ""} placeholder="By meaning and words"
          @search=${(event) => event.target.form.requestSubmit()}>
      </label>
      ${choice("Type", [["", "All"], ...[...types].map((name) => [name, words(name)])], query.type ?? "", (type) => refine({ type }))}
      ${query.q ? nothing : choice("Status", [["", "In use"], ...Object.entries(STATUS)], query.status ?? "", (status) => refine({ status }))}
      ${query.entity ? html`<button type="button" class="chip" @click=${() => refine({ entity: "" })}>About ${query.entity} ×</button>` : nothing}
      <button>Search</button>
    </form>
  `;
}

function list({ memories, next_cursor }) {
  const shown = memories.filter((memory) => !hidden.value.has(memory.id));
  if (shown.length === 0) return nothingThere();
  return html`
    <p class="muted small" role="status">${counted(shown.length, "memory", "memories")}${next_cursor ? ", more below" : ""}</p>
    <ul class="rows">${repeat(shown, (memory) => memory.id, row)}</ul>
    ${next_cursor ? html`<button @click=${more}>Show more</button>` : nothing}
  `;
}

function row(memory) {
  const { id, query } = route.value;
  return html`
    <li>
      <a class="row-link" href=${address("memories", memory.id, query)} aria-current=${id === memory.id ? "true" : nothing}>
        <span class="clamp" dir="auto">${memory.content}</span>
        <span class="meta">
          ${badge(memory.sub_type ?? memory.type)}
          ${memory.status === "active" ? nothing : badge(memory.status, "warn")}
          ${memory.relevance === undefined ? nothing : html`<span>relevance ${score(memory.relevance)}</span>`}
          ${time(memory.updated_at)}
        </span>
      </a>
    </li>
  `;
}

function nothingThere() {
  const { q, type, status, entity } = route.value.query;
  if (q || type || status || entity) return empty("No memory matches.", "Other words, or fewer filters, may find it.");
  return empty(
    `Nothing is remembered of ${user.value}.`,
    html`Facts appear within a second after a conversation in which they were said.
      <a href=${address("why")}>Why is something missing?</a>`,
  );
}
