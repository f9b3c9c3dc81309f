// Edits a memory. It is changed only if nobody else changed it since it was read.

import { html } from "../../../vendor/lit-html/lit-html.js";
import { signal } from "../../../vendor/signals-core/signals-core.js";
import { STATUS } from "../../core/names.js";
import { memoryPath, of } from "../../core/api.js";
import { focusOn } from "../../core/focus.js";
import { notify } from "../../parts/notices.js";
import { choice } from "../../parts/pieces.js";

/** The values in the form; null while nothing is edited. */
export const editing = signal(/** @type {null | { content: string, status: string }} */ (null));

export function startEditing({ content, status }) {
  editing.value = { content, status };
  focusOn("main article textarea");
}

export function stopEditing() {
  if (editing.peek()) focusOn("main article");
  editing.value = null;
}

/** What a person may set; memgate sets the others. */
const SET = ["active", "archived"];

export function edit(it, changed) {
  const statuses = SET.includes(it.status) ? SET : [it.status, ...SET];
  const set = (change) => (editing.value = { ...editing.value, ...change });
  return html`
    <form class="stack" @submit=${(event) => save(event, it, changed)} @keydown=${(event) => event.key === "Escape" && stopEditing()}>
      <label class="field">
        <span>What is remembered</span>
        <textarea rows="4" required dir="auto" .value=${editing.value.content} @input=${(event) => set({ content: event.target.value })}></textarea>
      </label>
      ${choice("Status", statuses.map((name) => [name, STATUS[name]]), editing.value.status, (status) => set({ status }))}
      <p class="muted small">An archived memory is kept and never presented.</p>
      <div class="row">
        <button class="primary">Save</button>
        <button type="button" class="quiet" @click=${stopEditing}>Cancel</button>
      </div>
    </form>
  `;
}

async function save(event, it, changed) {
  event.preventDefault();
  const { content, status } = editing.value;
  const change = { version: it.version };
  if (content.trim() !== it.content) change.content = content.trim();
  if (status !== it.status) change.status = status;
  try {
    await of(it).patch(memoryPath(it.id), change);
    notify("Saved.");
    changed();
  } catch (error) {
    const text = error.status === 409 ? "It was changed by somebody else meanwhile. Read it again, then edit it." : error.message;
    notify(text, "bad");
  }
}
