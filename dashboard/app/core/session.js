// Who is signed in, and whose memories are looked at. The key is in the tab's session storage: it is gone with the tab, and
// is sent only by this page's own calls, so no other page can use it.

import { batch, computed, signal } from "../../vendor/signals-core/signals-core.js";

const KEY = "memgate.key";
const USER = "memgate.user";
const TENANT = "memgate.tenant";
const KNOWN = "memgate.users";
const MOST_KNOWN = 8;

/** The API key; empty where none is needed. */
export const key = signal(sessionStorage.getItem(KEY) ?? "");

/** What the key permits, as `GET /v1/whoami` says; null before it is known. */
export const caller = signal(/** @type {null | { scopes: string[], user_id?: string, tenant_id?: string }} */ (null));

const chosen = signal(sessionStorage.getItem(USER) ?? "");
const chosenTenant = signal(sessionStorage.getItem(TENANT) ?? "");

/** The user whose memories are shown: the only one that the key reaches, else the chosen one. */
export const user = computed(() => caller.value?.user_id ?? chosen.value);

/** The tenant of this user; empty for the default one. */
export const tenant = computed(() => caller.value?.tenant_id ?? chosenTenant.value);

/** The owner of the memories that are shown, as a request names it. */
export const owner = () => ({ user_id: user.peek(), tenant_id: tenant.peek() });

/** Users that were looked at in this tab, the latest first. */
export const knownUsers = signal(/** @type {string[]} */ (JSON.parse(sessionStorage.getItem(KNOWN) ?? "[]")));

export const isAdmin = computed(() => caller.value?.scopes.includes("admin") ?? false);
export const mayWrite = computed(() => isAdmin.value || (caller.value?.scopes.includes("write") ?? false));

/** Number of keys that were entered: the same one may work the next time. */
export const entered = signal(0);

/** Whether the session ended because its key is not valid any more. */
export const isExpired = signal(false);

/** The key that was sent is not valid, or none was sent. */
export function expire() {
  if (caller.peek() !== null && key.peek()) isExpired.value = true;
  caller.value = null;
  if (key.peek()) setKey("");
}

/** @param {string} text */
export function setKey(text) {
  if (text) isExpired.value = false;
  key.value = text;
  entered.value++;
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

/** @param {string} id @param {string} [tenant] */
export function chooseUser(id, tenant = "") {
  batch(() => {
    chosen.value = id;
    chosenTenant.value = tenant;
  });
  sessionStorage.setItem(USER, id);
  sessionStorage.setItem(TENANT, tenant);
  if (!id) return;
  knownUsers.value = [id, ...knownUsers.value.filter((known) => known !== id)].slice(0, MOST_KNOWN);
  sessionStorage.setItem(KNOWN, JSON.stringify(knownUsers.value));
}

export function signOut() {
  for (const name of [KEY, USER, TENANT, KNOWN]) sessionStorage.removeItem(name);
  // A new page holds nothing of what the old one showed, and its address neither.
  history.replaceState(null, "", "/");
  location.reload();
}
