// The outcomes of a turn: what was kept, what was not, and why.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { BECAME, BECAME_KIND, WHAT } from "../core/names.js";
import { address } from "../core/router.js";
import { counted, words } from "./format.js";
import { badge, empty } from "./pieces.js";

const outcome = ({ what, became, count, reason }) =>
  html`${WHAT[what] ?? words(what)} ${BECAME[became] ?? words(became)}${count > 1 ? html`, ${count} ×` : nothing}${reason ? html`: ${words(reason)}` : nothing}.`;

const forgotten = ({ count }) => (count === 0 ? "The message asks to forget, and nothing was found." : `${counted(count, "memory was", "memories were")} forgotten.`);

export function outcomes(events) {
  if (events.length === 0) return empty("Nothing was learned from it.", "It said nothing that is worth keeping, or it is still being learned from.");
  return html`
    <ul class="outcomes">
      ${events.map(
        (event) => html`
          <li>
            ${badge(event.became, BECAME_KIND[event.became] ?? "")}
            <span>
              ${event.became === "forgotten" ? forgotten(event) : outcome(event)}
              ${event.memory_id ? html`<a href=${address("memories", event.memory_id)}>Its memory</a>` : nothing}
              ${event.by ? html`<a href=${address("memories", event.by)}>What replaced it</a>` : nothing}
            </span>
          </li>
        `,
      )}
    </ul>
  `;
}
