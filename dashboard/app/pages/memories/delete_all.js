// Deletes everything of one user. That cannot be undone, so the user's ID has to be typed.

import { html } from "../../../vendor/lit-html/lit-html.js";
import { signal } from "../../../vendor/signals-core/signals-core.js";
import { ofUser } from "../../core/api.js";
import { user } from "../../core/session.js";
import { counted } from "../../parts/format.js";
import { notify } from "../../parts/notices.js";

const typed = signal("");

const dialog = () => /** @type {HTMLDialogElement} */ (document.getElementById("delete-all"));

export function confirmDeletion() {
  typed.value = "";
  dialog().showModal();
}

/** @param {number} total @param {() => void} changed */
export function deleteEverything(total, changed) {
  return html`
    <dialog id="delete-all" aria-labelledby="delete-all-title">
      <form class="stack" @submit=${(event) => remove(event, changed)}>
        <h2 id="delete-all-title">Delete everything of ${user.value}?</h2>
        <p>${counted(total, "memory", "memories")} in use, their earlier versions and conversations, and what is still being
          learned. It leaves every disk within ten seconds and cannot be undone.</p>
        <label class="field">
          <span>Type <strong>${user.value}</strong> to confirm</span>
          <input name="confirm" autocomplete="off" spellcheck="false" .value=${typed.value} @input=${(event) => (typed.value = event.target.value)}>
        </label>
        <div class="row">
          <button class="danger" ?disabled=${typed.value !== user.value}>Delete everything</button>
          <button type="button" class="quiet" @click=${() => dialog().close()}>Cancel</button>
        </div>
      </form>
    </dialog>
  `;
}

async function remove(event, changed) {
  event.preventDefault();
  if (typed.value !== user.value) return;
  try {
    const { deleted } = await ofUser().delete("/v1/memory");
    notify(`${counted(deleted, "memory is", "memories are")} deleted.`);
  } catch (error) {
    notify(`Not deleted: ${error.message}`, "bad");
  }
  dialog().close();
  changed();
}
