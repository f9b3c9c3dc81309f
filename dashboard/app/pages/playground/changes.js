// What the settings of this request change, against the configured ones.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { isShown } from "../../parts/recall.js";

export function changes(configured, now) {
  if (!configured || !now) return nothing;
  const ids = (of) => new Map(of.recall.candidates.filter(isShown).map((one) => [one.memory_id, one.content]));
  const [before, after] = [ids(configured), ids(now)];
  const only = (from, other) => [...from].filter(([id]) => !other.has(id)).map(([, content]) => content);
  const [more, fewer] = [only(after, before), only(before, after)];
  const moved = configured.context && JSON.stringify(configured.messages) !== JSON.stringify(now.messages) && more.length + fewer.length === 0;
  if (more.length + fewer.length === 0 && !moved) return nothing;
  return html`
    <div class="note changes">
      <p>Against the configured settings:</p>
      <ul>
        ${more.map((content) => html`<li><ins>+ ${content}</ins></li>`)}
        ${fewer.map((content) => html`<li><del>− ${content}</del></li>`)}
        ${moved ? html`<li>The same memories, in another place of the prompt.</li>` : nothing}
      </ul>
    </div>
  `;
}
