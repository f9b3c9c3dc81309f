// Where a memory comes from: the very words, as long as the journal holds them, and what made a memory of them.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { memoryPath, ofUser } from "../../core/api.js";
import { Resource } from "../../core/resource.js";
import { address } from "../../core/router.js";
import { words } from "../../parts/format.js";
import { facts, time } from "../../parts/pieces.js";

const record = new Resource();

/** The most linked memories whose words are shown. */
const MOST = 20;

export const loadProvenance = (id) => (id ? record.load(() => read(id)) : record.clear());

async function read(id) {
  const whole = await ofUser().get(`${memoryPath(id)}/record`);
  const words = async ({ type, target }) => {
    const other = await ofUser().get(memoryPath(target)).catch(() => null);
    return { type, target, content: other?.content };
  };
  return { ...whole, relations: await Promise.all(whole.relations.slice(0, MOST).map(words)) };
}

export function provenance(memory) {
  const { raw, relations = [], event_time, expires_at, visibility, provenance = {} } = record.data ?? {};
  return html`
    <h2>Where it comes from</h2>
    ${(provenance.turns ?? []).map(said)}
    ${facts([
      ["In the words", raw !== memory.content && raw],
      ["Source", words(memory.source)],
      ["Made by", provenance.extractor && words(provenance.extractor)],
      ["Session", memory.session_id && html`<a href=${address("sessions", memory.session_id)}>${memory.session_id}</a>`],
      ["Happened", event_time && time(event_time)],
      ["Expires", expires_at && time(expires_at)],
      ["Visible to", visibility && visibility.kind !== "private" && visibility.kind],
      ...relations.map((relation) => [words(relation.type), relation.content ? html`<a href=${address("memories", relation.target)}>${relation.content}</a>` : "a deleted memory"]),
    ])}
  `;
}

const said = (turn) => html`
  <figure>
    ${turn.user ? html`<blockquote dir="auto">${turn.user}</blockquote>` : nothing}
    <figcaption class="meta">Said ${turn.said_at ? time(turn.said_at) : nothing}
      ${turn.user ? nothing : html`<span>in a conversation that the journal does not hold any more</span>`}</figcaption>
  </figure>
`;
