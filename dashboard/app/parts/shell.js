// The frame around every page: navigation, whose memories are shown, theme, messages.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { signal } from "../../vendor/signals-core/signals-core.js";
import { address } from "../core/router.js";
import { caller, chooseUser, isAdmin, key, knownUsers, signOut, tenant, user } from "../core/session.js";
import { THEMES, setTheme, theme } from "../core/theme.js";
import { PAGES } from "../pages/index.js";
import { heading, whose } from "./pieces.js";
import { notices } from "./notices.js";

const menuOpen = signal(false);

/** @param {import("../pages/index.js").Page} page @param {import("../core/router.js").Route} route */
export function shell(page, route) {
  return html`
    <a class="skip" href="#main" @click=${skip}>Skip to content</a>
    <div class="shell">
      <header class="side ${menuOpen.value ? "open" : ""}">
        <div class="side-head">
          <a class="brand" href="#/"><img src="/dashboard/icon.svg" alt="" width="28" height="28">memgate</a>
          <button class="menu" aria-expanded=${menuOpen.value} aria-controls="nav"
            @click=${() => (menuOpen.value = !menuOpen.value)}>Menu</button>
        </div>
        <div class="side-body" id="nav">
          ${userPicker()}
          <nav aria-label="Pages" @click=${() => (menuOpen.value = false)}>
            ${links(page, "user", user.value ? `Of ${user.value}` : "Of a user")}
            ${isAdmin.value ? links(page, "operator", "Operator") : nothing}
          </nav>
          <div class="side-foot">
            <label class="field inline"><span>Theme</span>
              <select @change=${(event) => setTheme(event.target.value)}>
                ${THEMES.map((name) => html`<option value=${name} ?selected=${name === theme.value}>${name}</option>`)}
              </select>
            </label>
            ${key.value
              ? html`<button class="quiet" @click=${signOut}>Sign out</button>`
              : html`<button class="quiet" @click=${() => (caller.value = null)}>Use a key</button>`}
          </div>
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${page.needsUser && !user.value ? chooseFirst(page) : page.view(route)}
      </main>
    </div>
    ${notices()}
  `;
}

function links(current, group, title) {
  const pages = Object.entries(PAGES).filter(([, page]) => page.group === group);
  return html`
    <h2 class="nav-title" title=${title}>${title}</h2>
    <ul>
      ${pages.map(
        ([name, page]) => html`<li><a href=${address(name)} aria-current=${page === current ? "page" : nothing}>${page.title}</a></li>`,
      )}
    </ul>
  `;
}

/** The key may reach only one user; then there is nothing to choose. */
function userPicker() {
  if (caller.value?.user_id) return nothing;
  return html`
    <form class="picker" @submit=${pick} role="search" aria-label="Choose a user">
      <label class="field">
        <span>User</span>
        <input name="user" list="known-users" .value=${user.value} placeholder="User ID" autocomplete="off"
          spellcheck="false" @change=${(event) => event.target.form.requestSubmit()}>
      </label>
      <datalist id="known-users">${knownUsers.value.map((id) => html`<option value=${id}></option>`)}</datalist>
      ${caller.value?.tenant_id ? nothing : html`
        <details ?open=${tenant.value !== ""}>
          <summary class="small">Tenant</summary>
          <label class="field"><span>Tenant (default: <code>default</code>)</span>
            <input name="tenant" .value=${tenant.value} autocomplete="off" spellcheck="false" @change=${(event) => event.target.form.requestSubmit()}>
          </label>
        </details>`}
    </form>
  `;
}

function pick(event) {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  chooseUser(String(form.get("user")).trim(), String(form.get("tenant") ?? "").trim());
}

const chooseFirst = (page) => html`${heading(page.title)}${whose()}`;

/** A link to `#main` would change the page's address. */
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}
