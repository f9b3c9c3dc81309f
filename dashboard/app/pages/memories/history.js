// The versions of a memory, each with what it changed.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { memoryPath, ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { difference } from "../../parts/difference.js";
import { words } from "../../parts/format.js";
import { badge, facts, time } from "../../parts/pieces.js";

const versions = new Resource();

/** Members whose change needs no word beside the others. */
const UNTOLD = new Set(["content", "raw", "provenance", "mentions", "entity_relations"]);

export const loadHistory = (id) => (id ? versions.load(() => ofUser().get(`${memoryPath(id)}/history`)) : versions.clear());

export function history() {
  const all = versions.data?.versions ?? [];
  if (all.length < 2) return nothing;
  return html`
    <h2>History</h2>
    <ol class="history" reversed>${all.map((version, at) => one(version, all[at + 1]))}</ol>
  `;
}

function one({ memory, changes }, before) {
  const told = changes.filter((change) => !UNTOLD.has(change.member));
  return html`
    <li class="section">
      <p class="meta">${badge(`version ${memory.version}`, "outline")} ${time(memory.updated_at)}</p>
      <p>${before ? difference(before.memory.content, memory.content) : memory.content}</p>
      ${facts(told.map(({ member, from, to }) => [words(member), html`<del>${shown(from)}</del> <ins>${shown(to)}</ins>`]))}
    </li>
  `;
}

const shown = (value) => (value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value));
