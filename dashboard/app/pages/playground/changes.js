// What the settings of this request change, against the configured ones.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { score } from "../../parts/format.js";
import { isShown } from "../../parts/recall.js";

export function changes(configured, now) {
  if (!configured || !now || configured === now) return nothing;
  const [before, after] = [configured, now].map(({ recall }) => new Map(recall.candidates.map((one) => [one.memory_id, one])));
  const all = new Map([...before, ...after]);
  const is = (of, id) => of.has(id) && isShown(of.get(id));
  const ids = [...all.keys()].filter((id) => is(before, id) || is(after, id));
  const [more, fewer] = [ids.filter((id) => !is(before, id)), ids.filter((id) => !is(after, id))];
  const moved = ids.filter((id) => is(before, id) && is(after, id) && score(before.get(id).score) !== score(after.get(id).score));
  const relevance = (id) => html`<span class="muted small">relevance ${score(before.get(id)?.score)} → ${score(after.get(id)?.score)}</span>`;
  const content = (id) => all.get(id).content ?? id;
  const same = more.length + fewer.length === 0;
  const elsewhere = same && configured.context === now.context && JSON.stringify(configured.messages) !== JSON.stringify(now.messages);
  const reordered = same && configured.context !== now.context;
  if (same && moved.length === 0 && !elsewhere && !reordered) return nothing;
  return html`
    <div class="note changes">
      <p>Against the configured settings:</p>
      <ul>
        ${more.map((id) => html`<li><ins>+ ${content(id)}</ins> ${relevance(id)}</li>`)}
        ${fewer.map((id) => html`<li><del>− ${content(id)}</del> ${relevance(id)}</li>`)}
        ${moved.map((id) => html`<li>${content(id)} ${relevance(id)}</li>`)}
        ${reordered ? html`<li>The same memories, in another order.</li>` : nothing}
        ${elsewhere ? html`<li>The same memories, in another place of the prompt.</li>` : nothing}
      </ul>
    </div>
  `;
}
