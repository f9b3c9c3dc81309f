// The entry. State is in signals, a page is a function of them, and one effect renders it: nothing else changes the document.

import { render } from "../vendor/lit-html/lit-html.js";
import { effect, untracked } from "../vendor/signals-core/signals-core.js";
import { get } from "./core/api.js";
import { focusOn } from "./core/focus.js";
import { Resource } from "./core/resource.js";
import { route, start } from "./core/router.js";
import { caller, entered, isExpired, tenant, user } from "./core/session.js";
import { PAGES } from "./pages/index.js";
import { shell } from "./parts/shell.js";
import { signIn } from "./parts/sign_in.js";

const root = document.getElementById("app");
const who = new Resource();

const page = () => PAGES[route.value.page] ?? PAGES[""];

start();

// What the key permits, whenever one is entered.
effect(() => {
  void entered.value;
  untracked(() =>
    who.load(async () => {
      caller.value = await get("/v1/whoami");
      return caller.value;
    }),
  );
});

// A page loads what it shows when it is entered, and again for another user; it stops when it is left.
effect(() => {
  if (!caller.value) return undefined;
  void [user.value, tenant.value];
  const { enter } = page();
  const at = route.value;
  return untracked(() => enter?.(at));
});

effect(() => {
  const signedIn = caller.value !== null;
  render(signedIn ? shell(page(), route.value) : signIn(who.value, isExpired.value), root);
});

// A page begins at its heading and what is opened in it at its own beginning, for keyboards and screen readers; not the
// first page, where the browser begins anyway.
let shown = null;
effect(() => {
  const { id } = route.value;
  const at = `${route.value.page}/${id}`;
  document.title = `${page().title} · memgate`;
  const isUndoing = document.activeElement?.closest(".notices");
  if (shown !== null && shown !== at && !isUndoing) focusOn(id ? "main article" : "main h1", { scroll: true });
  shown = at;
});
