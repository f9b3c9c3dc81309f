// Where the keyboard goes on. A page that replaces the focused element sends the focus to the top of the document otherwise.

/**
 * Focuses an element once the page shows it.
 * @param {string} selector @param {{ scroll?: boolean }} options scroll: whether the page begins there
 */
export const focusOn = (selector, { scroll = false } = {}) => queueMicrotask(() => focus(selector, scroll));

function focus(selector, scroll) {
  const element = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  element?.focus({ preventScroll: true });
  if (!element || !scroll) return;
  element.scrollTop = 0;
  const { top } = element.getBoundingClientRect();
  // Beside a long list it is in sight already.
  if (top < 0 || top > innerHeight / 2) element.scrollIntoView({ block: "start" });
}
