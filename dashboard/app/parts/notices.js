// Short messages at the bottom of the window, and deletions that can still be undone.
//
// A deletion is final when memgate has answered. So the page waits before it asks: until then "Undo" takes it back. One that
// waits when the page is closed is carried out at once. The time does not run out under the pointer, or while the keyboard is
// on a message.

import { html } from "../../vendor/lit-html/lit-html.js";
import { signal } from "../../vendor/signals-core/signals-core.js";
import { focusOn } from "../core/focus.js";

/** How long a deletion can be undone, and a message is shown, in milliseconds. */
const SHOWN = 8_000;

/** @typedef {{ text: string, kind: "good" | "bad", act?: () => void, undo?: () => void, timer: number }} Notice */

const shown = signal(/** @type {Notice[]} */ ([]));

/** @param {string} text @param {"good" | "bad"} kind */
export function notify(text, kind = "good") {
  add({ text, kind });
}

/**
 * Does something after a while, unless it is undone.
 * @param {string} text @param {() => void} act @param {() => void} undo
 */
export function undoable(text, act, undo) {
  add({ text, kind: "good", act, undo });
  focusOn(".notice:last-child button");
}

function add(notice) {
  const timed = { ...notice, timer: setTimeout(() => expire(timed), SHOWN) };
  shown.value = [...shown.value, timed];
}

function expire(notice) {
  if (document.querySelector(".notices:hover, .notices :focus-visible")) notice.timer = setTimeout(() => expire(notice), SHOWN);
  else finish(notice);
}

function remove(notice) {
  clearTimeout(notice.timer);
  if (document.activeElement?.closest(".notices")) focusOn("main h1");
  shown.value = shown.value.filter((other) => other !== notice);
}

function finish(notice) {
  remove(notice);
  notice.act?.();
}

function takeBack(notice) {
  remove(notice);
  notice.undo();
}

/** Carries out what waits. */
export function finishAll() {
  shown.peek().filter((notice) => notice.act).forEach(finish);
}

addEventListener("pagehide", finishAll);

export function notices() {
  return html`
    <div class="notices" role="status" aria-live="polite">
      ${shown.value.map(
        (notice) => html`
          <div class="notice ${notice.kind}">
            <span>${notice.text}</span>
            ${notice.undo
              ? html`<button @click=${() => takeBack(notice)}>Undo</button>
                  <button @click=${() => finish(notice)}>Delete now</button>`
              : html`<button aria-label="Close" @click=${() => finish(notice)}>Close</button>`}
          </div>
        `,
      )}
    </div>
  `;
}
