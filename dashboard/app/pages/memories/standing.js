// What stands in every context of the user: preferences, and wishes about every answer. One is edited and deleted as a memory.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { address } from "../../core/router.js";
import { mayWrite } from "../../core/session.js";
import { counted } from "../../parts/format.js";
import { notify } from "../../parts/notices.js";
import { badge } from "../../parts/pieces.js";
import { hidden } from "./detail.js";

const found = new Resource();

export const loadStanding = () => found.load(() => ofUser().get("/v1/preferences", { wishes: true }), { keep: true });

/** @param {() => void} changed called after a wish was added */
export function standing(changed) {
  const { preferences, wishes } = found.data ?? { preferences: [], wishes: [] };
  const all = [
    ...preferences.map((one) => ({ id: one.memory_id, text: one.shown_as, kind: one.key })),
    ...wishes.map((one) => ({ id: one.id, text: one.content, kind: "wish" })),
  ].filter((one) => !hidden.value.has(one.id));
  if (!found.data || (all.length === 0 && !mayWrite.value)) return nothing;
  return html`
    <details class="card" aria-label="In every answer">
      <summary>In every answer: ${counted(all.length, "preference or wish", "preferences and wishes")}</summary>
      <div class="stack">
        ${all.length === 0 ? nothing : html`<ul class="rows">${all.map(row)}</ul>`}
        ${mayWrite.value ? add(changed) : nothing}
      </div>
    </details>
  `;
}

const row = (one) => html`
  <li>
    <a class="row-link" href=${address("memories", one.id)}>
      <span class="clamp" dir="auto">${one.text}</span>
      <span class="meta">${badge(one.kind)}</span>
    </a>
  </li>
`;

const add = (changed) => html`
  <form class="filters" @submit=${(event) => save(event, changed)}>
    <label class="field grow">
      <span>A wish about every answer</span>
      <input name="wish" required maxlength="200" dir="auto" autocomplete="off" placeholder="grams, not cups">
    </label>
    <button>Add</button>
  </form>
`;

async function save(event, changed) {
  event.preventDefault();
  const form = event.currentTarget;
  try {
    await ofUser().put("/v1/preferences", { wish: String(new FormData(form).get("wish")).trim() });
    form.reset();
    notify("Added.");
    changed();
  } catch (error) {
    notify(error.message, "bad");
  }
}
