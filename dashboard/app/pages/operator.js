// The requests of all users in the last hour, without content and users: decisions, hits, and the time of each step.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../core/api.js";
import { Resource } from "../core/resource.js";
import { address } from "../core/router.js";
import { bars } from "../parts/charts.js";
import { clock, count, milliseconds, percent } from "../parts/format.js";
import { decisionKind, empty, figure, heading, loaded } from "../parts/pieces.js";

export const title = "Last hour";

const EVERY = 5_000;

const summary = new Resource();
const load = () => summary.load(() => get("/admin/recalls/summary"), { keep: true });

export function enter() {
  load();
  const timer = setInterval(load, EVERY);
  return () => clearInterval(timer);
}

export const view = () => html`
  ${heading("Last hour")}
  <p class="muted">Requests of all users, without content and users. The trail keeps the latest ones in memory.</p>
  ${loaded(summary, told, load)}
`;

function told({ requests, by_decision, with_hits, steps, total, first_at }) {
  if (requests === 0) return empty("No request came in the last hour.", "Requests through Envoy appear here at once.");
  const searched = by_decision.searched ?? 0;
  const [slowest] = steps;
  return html`
    <dl class="figures">
      ${figure("Requests", count(requests), `since ${clock(first_at)}`)}
      ${figure("Searched memory", percent(searched / requests))}
      ${figure("Searches that found something", searched ? percent(with_hits / searched) : "–")}
      ${total ? figure("Added time, half within", milliseconds(total.p50_ms), html`95 % within ${milliseconds(total.p95_ms)}`) : nothing}
      ${slowest ? figure("Slowest step", slowest.step, html`95 % within ${milliseconds(slowest.p95_ms)}`) : nothing}
    </dl>
    <div class="halves">
      <section class="card section"><h2>Decisions</h2>
        ${bars(Object.entries(by_decision).sort(([, a], [, b]) => b - a).map(([decision, number]) => ({
          name: decision.replace(":", ": "), value: number, text: count(number), kind: { accent: "", bad: "bad" }[decisionKind(decision)] ?? "quiet",
        })))}
      </section>
      <section class="card section"><h2>Time by step</h2>
        ${bars(steps.map((step) => ({ name: step.step, value: step.p95_ms, mark: step.p50_ms, text: milliseconds(step.p95_ms), kind: step === slowest ? "warn" : "" })))}
        <p class="muted small">95 % of requests within the bar, half of them within the line.</p>
      </section>
    </div>
    <section class="card section"><h2>The slowest requests</h2>${table(total ? [...steps, total] : steps)}</section>
  `;
}

const table = (steps) => html`
  <div class="scroll" tabindex="0" role="region" aria-label="The slowest request of each step">
    <table>
      <thead><tr><th>Step</th><th>Requests</th><th>Half within</th><th>95 % within</th><th>Longest</th><th>In request</th></tr></thead>
      <tbody>
        ${steps.map((step) => html`
          <tr>
            <td>${step.step}</td><td>${count(step.requests)}</td><td>${milliseconds(step.p50_ms)}</td><td>${milliseconds(step.p95_ms)}</td>
            <td>${milliseconds(step.max_ms)}</td><td><a href=${address("requests", step.slowest_request_id)}><code>${step.slowest_request_id}</code></a></td>
          </tr>`)}
      </tbody>
    </table>
  </div>
`;
