// The versions of a memory, each with what changed in its words.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { memoryPath, ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { badge, time } from "../../parts/pieces.js";
import { difference } from "../../parts/difference.js";
import { words } from "../../parts/format.js";

const versions = new Resource();

export const loadHistory = (id) => versions.load(() => ofUser.get(`${memoryPath(id)}/history`));

export function history(it) {
  const all = versions.data?.versions ?? [];
  if (it.version === 1 || all.length === 0) return nothing;
  return html`
    <h2>History</h2>
    <ol class="history" reversed>
      ${all.map((version, at) => {
        const before = all[at + 1];
        return html`
          <li>
            <p class="meta">
              ${badge(`version ${version.version}`, "outline")} ${time(version.at ?? version.updated_at)}
              ${version.actor ? html`<span>${words(version.actor)}${version.reason ? `: ${words(version.reason)}` : ""}</span>` : nothing}
            </p>
            <p>${before ? difference(before.content, version.content) : version.content}</p>
          </li>
        `;
      })}
    </ol>
  `;
}
