// The jobs of all users: what waits, and what failed for good. Their payloads are content and are not shown.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, post } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { refine, route } from "../core/router.js";
import { counted, words } from "../parts/format.js";
import { notify } from "../parts/notices.js";
import { badge, choice, empty, heading, loaded, time } from "../parts/pieces.js";

export const title = "Jobs";

/** The most jobs that are shown. */
const MOST = 100;

const jobs = new Resource();
const KIND = { dead: "bad", pending: "" };

const load = () => jobs.load(() => get("/admin/jobs", { state: route.peek().query.state, limit: MOST }), { keep: true });

export const enter = load;

export function view(at) {
  return html`
    ${heading("Jobs", html`<button @click=${retry}>Run dead jobs again</button>`)}
    <div class="filters">${choice("State", [["", "All"], ["pending", "pending"], ["dead", "dead"], ["done", "done"]], at.query.state ?? "", (state) => refine({ state }))}</div>
    ${loaded(jobs, table, load)}
  `;
}

function table({ jobs }) {
  if (jobs.length === 0) return empty("No jobs.", "Learning is not behind.");
  return html`
    <div class="card scroll" tabindex="0" role="region" aria-label="Jobs">
      <table>
        <thead><tr><th>Job</th><th>State</th><th>User</th><th>Due</th><th>Failed runs</th></tr></thead>
        <tbody>
          ${jobs.map((job) => html`
            <tr>
              <td>${words(job.kind)}${job.last_error ? html`<br><span class="muted small">${job.last_error}</span>` : nothing}</td>
              <td>${badge(job.state, KIND[job.state] ?? "")}</td><td>${job.user_id ?? "–"}</td><td>${time(job.due_at)}</td><td>${job.tries}</td>
            </tr>`)}
        </tbody>
      </table>
    </div>
    ${jobs.length === MOST ? html`<p class="muted small">The first ${MOST}.</p>` : nothing}
  `;
}

async function retry() {
  try {
    const { retried } = await post("/admin/jobs/retry", {});
    notify(`${counted(retried, "job runs", "jobs run")} again.`);
    load();
  } catch (error) {
    notify(error.message, "bad");
  }
}
