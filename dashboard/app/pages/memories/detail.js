// One memory: its text, where it comes from, its history, and what can be done with it.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { signal } from "../../../vendor/signals-core/signals-core.js";
import { memoryPath, of, ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { address, go, route } from "../../core/router.js";
import { mayWrite, user } from "../../core/session.js";
import { count, percent } from "../../parts/format.js";
import { notify, undoable } from "../../parts/notices.js";
import { badge, facts, loaded, time } from "../../parts/pieces.js";
import { edit, editing, startEditing, stopEditing } from "./edit.js";
import { history, loadHistory } from "./history.js";
import { loadProvenance, provenance } from "./provenance.js";

const memory = new Resource();

/** Memories whose deletion can still be undone: lists leave them out. */
export const hidden = signal(/** @type {Set<string>} */ (new Set()));

/** @param {string} id */
export function open(id) {
  stopEditing();
  loadHistory(user.peek() && id);
  loadProvenance(user.peek() && id);
  if (!id || !user.peek()) return memory.clear();
  return memory.load(() => ofUser().get(memoryPath(id)));
}

const close = () => go("memories", "", route.peek().query);

/** @param {() => void} changed called after the memory was changed or deleted */
export function detail(changed) {
  const reload = () => open(route.peek().id);
  return html`
    <article class="detail card" tabindex="-1" aria-label="Memory">
      <a class="back" href=${address("memories", "", route.value.query)}>Back to the list</a>
      ${loaded(memory, (it) => whole(it, changed), reload)}
    </article>
  `;
}

function whole(it, changed) {
  if (editing.value) return edit(it, changed);
  return html`
    <p class="said" dir="auto">${it.content}</p>
    <p class="meta">
      ${badge(it.sub_type ?? it.type)} ${badge(it.status, it.status === "active" ? "good" : "warn")}
      ${it.tags.map((tag) => badge(tag, "outline"))}
    </p>
    ${mayWrite.value
      ? html`<div class="row">
          <button @click=${() => startEditing(it)}>Edit</button>
          <button class="danger" @click=${() => remove(it, changed)}>Delete</button>
        </div>`
      : nothing}
    ${provenance(it)}
    ${history()}
    <h2>Details</h2>
    ${facts([
      ["Importance", percent(it.importance)],
      ["Confidence", it.confidence === null ? nothing : percent(it.confidence)],
      ["Presented", it.access_count === 0 ? "never" : html`${count(it.access_count)} ×${it.last_accessed_at ? html`, last ${time(it.last_accessed_at)}` : nothing}`],
      ["Created", time(it.created_at)],
      ["Changed", it.version > 1 ? html`${time(it.updated_at)}, version ${it.version}` : nothing],
      ["Valid from", it.valid_from && time(it.valid_from)],
      ["Valid until", it.valid_until && time(it.valid_until)],
      ["Project", it.project_id],
      ["Agent", it.agent_id],
      ["About", it.mentions?.length ? it.mentions.map((one) => html`<a class="chip" href=${address("memories", "", { entity: one.name })}>${one.name}</a> `) : nothing],
      ["Metadata", Object.keys(it.metadata).length ? html`<pre>${JSON.stringify(it.metadata, null, 2)}</pre>` : nothing],
      ["ID", html`<code>${it.id}</code>`],
    ])}
  `;
}

function remove(it, changed) {
  const show = () => (hidden.value = new Set([...hidden.value].filter((id) => id !== it.id)));
  hidden.value = new Set([...hidden.value, it.id]);
  close();
  undoable(
    "Deleting the memory …",
    async () => {
      try {
        // Its own user: another one may be looked at by then.
        await of(it).delete(memoryPath(it.id), { keepalive: true });
        changed();
      } catch (error) {
        notify(`Not deleted: ${error.message}`, "bad");
      }
      show();
    },
    show,
  );
}
