// Memories that contradict each other and wait for a person's decision (`memory.reconcile.policy: review`).

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { memoryPath, of, ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { address } from "../../core/router.js";
import { mayWrite } from "../../core/session.js";
import { counted } from "../../parts/format.js";
import { notify } from "../../parts/notices.js";
import { time } from "../../parts/pieces.js";

/** The most memories that are looked at; more come when these are decided. */
const MOST = 50;

const undecided = new Resource();

export const loadContradictions = () => undecided.load(read);

/** The newer memory of each contradiction with those that it contradicts. */
async function read() {
  const { memories } = await ofUser().get("/v1/memory", { status: "review", limit: MOST });
  const records = await Promise.all(memories.map(({ id }) => ofUser().get(`${memoryPath(id)}/record`)));
  const known = new Map(records.map((record) => [record.id, record]));
  const sides = (record) => record.relations.filter(({ type }) => type === "contradicts").map(({ target }) => known.get(target)).filter(Boolean);
  return records.map((record) => [...sides(record), record]).filter((all) => all.length > 1);
}

/** @param {() => void} changed */
export function contradictions(changed) {
  const all = undecided.data ?? [];
  if (all.length === 0) return nothing;
  return html`
    <section class="stack" aria-label="Contradictions">
      ${all.map((sides) => html`
        <div class="note">
          <p>${counted(sides.length, "memory", "memories")} contradict each other. Which one holds?</p>
          <ul class="rows">
            ${sides.map((one) => html`
              <li class="row">
                <a class="grow" dir="auto" href=${address("memories", one.id)}>${one.content}</a> ${time(one.created_at)}
                ${mayWrite.value ? html`<button aria-label=${`This holds: ${one.content}`} @click=${() => decide(sides, [one], changed)}>This holds</button>` : nothing}
              </li>`)}
          </ul>
          ${mayWrite.value ? html`<button class="quiet" @click=${() => decide(sides, sides, changed)}>All of them hold</button>` : nothing}
        </div>`)}
    </section>
  `;
}

async function decide(sides, holding, changed) {
  try {
    for (const one of sides) {
      const status = holding.includes(one) ? "active" : "superseded";
      await of(one).patch(memoryPath(one.id), { version: one.version, status });
    }
    notify("Decided.");
  } catch (error) {
    notify(error.message, "bad");
  }
  changed();
}
