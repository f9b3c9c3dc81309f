// What the user asked to forget in a message: hidden now, erased later, and undone here until then.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { mayWrite } from "../../core/session.js";
import { counted } from "../../parts/format.js";
import { notify } from "../../parts/notices.js";
import { time } from "../../parts/pieces.js";

const pending = new Resource();

export const loadForgettings = () => pending.load(() => ofUser().get("/v1/forgettings"));

/** @param {() => void} changed */
export function forgettings(changed) {
  const some = (pending.data?.forgettings ?? []).filter((one) => one.memories.length > 0);
  if (some.length === 0) return nothing;
  return html`
    <section class="stack" aria-label="To be forgotten">
      ${some.map(
        (one) => html`
          <div class="note">
            <p>${counted(one.memories.length, "memory is", "memories are")} hidden because the user asked to forget, ${time(one.asked_at)}; erased ${time(one.erase_at)}.</p>
            ${mayWrite.value ? html`<button @click=${() => undo(one, changed)}>Undo</button>` : nothing}
          </div>
        `,
      )}
    </section>
  `;
}

async function undo(one, changed) {
  try {
    const { restored } = await ofUser().post(`/v1/forgettings/${encodeURIComponent(one.id)}/undo`);
    notify(`${counted(restored, "memory is", "memories are")} restored.`);
    changed();
  } catch (error) {
    notify(error.message, "bad");
  }
}
