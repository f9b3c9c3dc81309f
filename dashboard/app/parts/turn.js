// The outcomes of a turn: what was kept, what was not, and why.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { BECAME, BECAME_KIND, WHAT } from "../core/names.js";
import { address } from "../core/router.js";
import { words } from "./format.js";
import { badge, empty } from "./pieces.js";

export function outcomes(events) {
  if (events.length === 0) return empty("Nothing was learned from it.", "It said nothing that is worth keeping, or it is still being learned from.");
  return html`
    <ul class="outcomes">
      ${events.map(
        (event) => html`
          <li>
            ${badge(event.became, BECAME_KIND[event.became] ?? "")}
            <span>
              ${WHAT[event.what] ?? words(event.what)} ${BECAME[event.became] ?? words(event.became)}${event.count > 1 ? html`, ${event.count} ×` : nothing}${event.reason ? html`: ${words(event.reason)}` : nothing}.
              ${event.memory_id ? html`<a href=${address("memories", event.memory_id)}>Its memory</a>` : nothing}
              ${event.by ? html`<a href=${address("memories", event.by)}>What replaced it</a>` : nothing}
            </span>
          </li>
        `,
      )}
    </ul>
  `;
}
