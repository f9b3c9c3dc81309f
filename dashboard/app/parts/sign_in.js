// The page for whoever is not signed in: asks for a key, or says why memgate does not answer.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { key, setKey } from "../core/session.js";

/** @param {import("../core/resource.js").Loaded<unknown>} who @param {boolean} isExpired whether the last key ceased to be valid */
export function signIn(who, isExpired) {
  if (who.state === "loading" || who.state === "idle") return html`<main class="gate" aria-busy="true"></main>`;
  const error = who.error && !isMissingKey(who.error) ? who.error : null;
  const ended = isExpired && (!error || error.status === 401);
  return html`
    <main class="gate">
      <form class="card stack" @submit=${submit}>
        <p class="brand"><img src="/dashboard/icon.svg" alt="" width="28" height="28">memgate</p>
        <h1 tabindex="-1">Sign in</h1>
        ${ended ? html`<p class="note" role="alert">The key is not valid any more: it expired or was revoked.</p>` : nothing}
        ${error && !ended ? html`<div class="note bad" role="alert"><p>${error.message}</p>
          ${error.status === 401 ? nothing : html`<button type="button" @click=${() => setKey(key.peek())}>Try again</button>`}</div>` : nothing}
        <label class="field">
          <span>API key</span>
          <input name="key" type="password" autocomplete="current-password" required spellcheck="false">
        </label>
        <button class="primary">Sign in</button>
        <p class="muted small">
          <code>memgate key create</code> makes a key. One with the scope <code>read</code> shows memories,
          <code>write</code> changes them, <code>admin</code> also shows jobs and the audit log. Behind the gateway, your own token signs in as you. It stays in this tab.
        </p>
      </form>
    </main>
  `;
}

/** Nobody has tried a key yet, so its absence is no mistake. */
function isMissingKey(error) {
  return error.status === 401 && (error.code === "key_required" || !tried);
}

let tried = false;

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  tried = true;
  const form = /** @type {HTMLFormElement} */ (event.target);
  setKey(String(new FormData(form).get("key")).trim());
}
