// Who changed what, when and for which request. The log holds no content and no user's ID.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { refine, route } from "../core/router.js";
import { count, date, words } from "../parts/format.js";
import { notify } from "../parts/notices.js";
import { empty, heading, loaded } from "../parts/pieces.js";

export const title = "Audit log";

const PAGE = 50;
const log = new Resource();

const read = (cursor) => get("/admin/audit", { user_id: route.peek().query.of, limit: PAGE, cursor });
const load = () => log.load(() => read(), { keep: true });

export const enter = load;

async function more() {
  const { entries, next_cursor } = log.data;
  try {
    const page = await read(next_cursor);
    log.set({ entries: [...entries, ...page.entries], next_cursor: page.next_cursor });
  } catch (error) {
    notify(error.message, "bad");
  }
}

export function view(at) {
  const select = (event) => {
    event.preventDefault();
    refine({ of: String(new FormData(event.currentTarget).get("of")).trim() });
  };
  return html`
    ${heading("Audit log")}
    <form class="filters" role="search" aria-label="Audit log" @submit=${select}>
      <label class="field grow"><span>About the user</span><input name="of" .value=${at.query.of ?? ""} placeholder="All users" spellcheck="false"></label>
      <button>Show</button>
    </form>
    ${loaded(log, table, load)}
  `;
}

function table({ entries, next_cursor }) {
  if (entries.length === 0) return empty("No entries.", "Changes over the API, by the command line and by users' own words are written here.");
  return html`
    <div class="card scroll" tabindex="0" role="region" aria-label="Entries">
      <table>
        <thead><tr><th>When</th><th>Who</th><th>What</th><th>Target</th><th>Request</th></tr></thead>
        <tbody>
          ${entries.map((entry) => html`
            <tr>
              <td>${date(entry.at)}</td><td>${words(entry.actor)}</td>
              <td>${words(entry.action)}${entry.count !== undefined && entry.count !== 1 ? html` (${count(entry.count)})` : nothing}<br><span class="muted small">${words(entry.reason)}</span></td>
              <td>${entry.target ? html`<code>${entry.target}</code>` : "–"}</td>
              <td>${entry.request_id ? html`<code>${entry.request_id}</code>` : "–"}</td>
            </tr>`)}
        </tbody>
      </table>
    </div>
    ${next_cursor ? html`<button @click=${more}>Show more</button>` : nothing}
  `;
}
