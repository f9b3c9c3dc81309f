// The address names the page and what it shows: `#/memories/ID?status=archived`. So every view can be linked to.

import { signal } from "../../vendor/signals-core/signals-core.js";
import { chooseUser, key, setKey } from "./session.js";

/** @typedef {{ page: string, id: string, query: Record<string, string> }} Route */

export const route = signal(read());

/** @returns {Route} */
function read() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...id] = path.split("/");
  return { page, id: decoded(id.join("/")), query: Object.fromEntries(new URLSearchParams(search)) };
}

/** A part of an address that somebody may have typed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page. @param {string} page @param {string} [id] @param {Record<string, string>} [query] */
export function address(page, id = "", query = {}) {
  const members = Object.entries(query).filter(([, value]) => value);
  const search = members.length > 0 ? `?${new URLSearchParams(members)}` : "";
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}${search}`;
}

/** @param {string} page @param {string} [id] @param {Record<string, string>} [query] */
export function go(page, id, query) {
  location.hash = address(page, id, query);
}

/** Changes what the page shows without another entry in the history. @param {Record<string, string>} query */
export function refine(query) {
  const { page, id, query: before } = route.peek();
  history.replaceState(null, "", address(page, id, { ...before, ...query }));
  route.value = read();
}

/**
 * Takes a key and a user out of the address, as in the link that `cargo xtask up` prints (`#key=…&user=…`). The part
 * after `#` is never sent, and it does not stay in the address.
 */
function takeSignIn() {
  const members = new URLSearchParams(location.hash.replace(/^#/, ""));
  const given = members.get("key");
  if (given === null) return;
  history.replaceState(null, "", "#/");
  // Any page can hold such a link; who is signed in does not become somebody else unasked.
  const isSignedIn = key.peek() !== "" && key.peek() !== given;
  if (isSignedIn && !confirm("Sign in with the key of this link, in place of the present one?")) return;
  chooseUser(members.get("user") ?? "");
  setKey(given);
}

export function start() {
  takeSignIn();
  const follow = () => {
    takeSignIn();
    const next = read();
    if (next.query.user) chooseUser(next.query.user);
    route.value = next;
  };
  addEventListener("hashchange", follow);
  follow();
}
