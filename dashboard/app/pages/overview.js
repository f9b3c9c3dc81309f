// How memgate does since its start, and what it has of the chosen user.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, ofUser } from "../core/api.js";
import { STATUS } from "../core/names.js";
import { readMetrics } from "../core/metrics.js";
import { Resource } from "../core/resource.js";
import { address } from "../core/router.js";
import { caller, user } from "../core/session.js";
import { bars, columns } from "../parts/charts.js";
import { count, counted, milliseconds, percent, words } from "../parts/format.js";
import { badge, decisionKind, empty, figure, heading, loaded } from "../parts/pieces.js";

export const title = "Overview";

/** How often the figures are read again, in milliseconds. */
const EVERY = 5_000;
const DAYS = 14;
/** The newest memories are enough for the plot of the latest days. */
const NEWEST = 100;

const running = new Resource();
const memories = new Resource();

/** How memgate does is not the matter of somebody who sees one user only, and Envoy does not tell them. */
const isOneUsers = () => Boolean(caller.value?.user_id);

export function enter() {
  if (user.peek()) memories.load(readMemories, { keep: true });
  if (isOneUsers()) return undefined;
  running.load(readRunning, { keep: true });
  const timer = setInterval(() => running.load(readRunning, { keep: true }), EVERY);
  return () => clearInterval(timer);
}

async function readRunning() {
  const [metrics, ready] = await Promise.all([readMetrics(), readiness()]);
  return { metrics, ready };
}

/** It answers with status 503 when a part is down, and says which. */
const readiness = () => get("/readyz").catch((error) => (error.answer?.status ? error.answer : { status: error.message }));

async function readMemories() {
  const [stats, newest] = await Promise.all([
    ofUser().get("/v1/memory/stats"),
    ofUser().get("/v1/memory", { limit: NEWEST, filter: JSON.stringify({ status: Object.keys(STATUS) }) }),
  ]);
  return { stats, newest: newest.memories };
}

export function view() {
  return html`
    ${heading("Overview")}
    ${user.value ? ofTheUser() : nothing}
    ${isOneUsers() ? nothing : loaded(running, since, enter)}
  `;
}

function ofTheUser() {
  return html`
    <section class="section" aria-labelledby="of-user">
      <h2 id="of-user">Memories of ${user.value}</h2>
      ${loaded(memories, ({ stats, newest }) => {
        if (stats.total === 0) return empty(`Nothing is remembered of ${user.value} yet.`, "Facts appear within a second after a conversation in which they were said.");
        const types = Object.entries(stats.by_type).filter(([, number]) => number > 0);
        return html`
          <div class="halves">
            <div class="card section">
              <p><a href=${address("memories")}>${counted(stats.total, "memory", "memories")} in use</a>${Object.entries(stats.by_status ?? {})
                .filter(([status, number]) => status in STATUS && status !== "active" && number > 0)
                .map(([status, number]) => html`, <a href=${address("memories", "", { status })}>${count(number)} ${STATUS[status]}</a>`)}</p>
              ${bars(types.map(([type, number]) => ({
                name: html`<a href=${address("memories", "", { type })}>${words(type)}</a>`, value: number, text: count(number),
              })))}
              ${stats.embedded < stats.total
                ? html`<p class="muted small">${counted(stats.total - stats.embedded, "memory has", "memories have")} no vector yet and can be found by words only.</p>`
                : nothing}
            </div>
            <div class="card section">
              <p>Remembered in the last ${DAYS} days, by type${newest.length === NEWEST ? html` <span class="muted small">(the newest ${NEWEST})</span>` : nothing}</p>
              ${byDay(newest, "type", types.map(([type]) => type))}
              <p>… and by what became of it</p>
              ${byDay(newest, "status", Object.keys(STATUS).filter((status) => newest.some((memory) => memory.status === status)))}
            </div>
          </div>
        `;
      }, enter)}
    </section>
  `;
}

/** @param {"type" | "status"} member what the columns are made of @param {string[]} names its values */
function byDay(newest, member, names) {
  const day = (time) => new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short" });
  const today = new Date();
  // By the calendar of the person who looks: a day has not always 24 hours.
  const days = Array.from({ length: DAYS }, (_, at) => day(new Date(today.getFullYear(), today.getMonth(), today.getDate() - (DAYS - 1 - at))));
  const parts = new Map(days.map((title) => [title, {}]));
  for (const memory of newest) {
    const of = parts.get(day(memory.created_at));
    if (of) of[memory[member]] = (of[memory[member]] ?? 0) + 1;
  }
  const shown = days.map((title) => ({ title, parts: parts.get(title) }));
  return columns(shown, names, `Memories of the last ${DAYS} days, by ${member}`);
}

function since({ metrics, ready }) {
  const decisions = metrics.by("memgate_decisions_total", "decision");
  const all = decisions.reduce((sum, [, number]) => sum + number, 0);
  const searched = metrics.sum("memgate_decisions_total", { decision: "searched" });
  // Searches that present nothing are not in the histogram.
  const hits = metrics.sum("memgate_hits_count");
  const lag = metrics.sum("memgate_jobs_lag_seconds");
  const dead = metrics.sum("memgate_jobs", { state: "dead" });
  const slow = metrics.quantile("memgate_phase_seconds", 0.95, { phase: "total" });
  const failed = metrics.by("memgate_failures_total", "kind");
  const failures = failed.reduce((sum, [, number]) => sum + number, 0);
  return html`
    <section class="section" aria-labelledby="since">
      <div class="heading">
        <h2 id="since">Since memgate started</h2>
        <p class="row">${["store", "embedder", "journal"].map((part) => badge(ready[part] === "ok" ? `${part} works` : `${part}: ${ready[part] ?? ready.status}`, ready[part] === "ok" ? "good" : "bad"))}
          ${ready.identity_mode ? badge(ready.identity_mode, ready.identity_mode === "development" ? "warn" : "outline") : nothing}</p>
      </div>
      <dl class="figures">
        ${figure("Requests", count(all), all ? `${percent(searched / all)} searched memory` : nothing)}
        ${figure("Searches that found something", searched ? percent(Math.min(1, hits / searched)) : "–")}
        ${figure("Added time, 95 % within", slow === null ? "–" : milliseconds(slow * 1_000))}
        ${figure("Turns learned from", count(metrics.sum("memgate_turns_journaled_total")))}
        ${figure("Learning is behind by", lag < 1 ? "0 s" : `${Math.round(lag)} s`, dead ? `${counted(dead, "job has", "jobs have")} failed for good` : nothing, dead || lag > 60 ? "bad" : "")}
        ${figure("Failures", count(failures), failures ? failed.map(([kind, number]) => `${words(kind)} ${number}`).join(", ") : nothing, failures ? "bad" : "")}
      </dl>
      ${all === 0
        ? empty("No request has come through Envoy yet.", "Send one to /v1/chat/completions, or try a message in the playground.")
        : html`<div class="halves">
            <div class="card section"><h3>Decisions</h3>
              ${bars(decisions.map(([decision, number]) => ({ name: decision.replace(":", ": "), value: number, text: count(number), kind: kindOfBar(decision) })))}
            </div>
            <div class="card section"><h3>Where the time goes</h3>${phases(metrics)}</div>
          </div>`}
    </section>
  `;
}

const kindOfBar = (decision) => ({ accent: "", bad: "bad" })[decisionKind(decision)] ?? "quiet";

const PHASES = ["read", "decide", "query", "embed", "search", "context", "total"];

function phases(metrics) {
  const measured = PHASES.map((phase) => ({ phase, half: metrics.quantile("memgate_phase_seconds", 0.5, { phase }), most: metrics.quantile("memgate_phase_seconds", 0.95, { phase }) }));
  const rows = measured.filter(({ most }) => most !== null);
  return html`
    ${bars(rows.map(({ phase, half, most }) => ({ name: phase, value: most * 1_000, mark: half * 1_000, text: milliseconds(most * 1_000), kind: phase === "total" ? "quiet" : "" })))}
    <p class="muted small">95 % of requests within the bar, half of them within the line.</p>
  `;
}
