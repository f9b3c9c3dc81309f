// Light or dark: the system's choice, unless this browser's user chose otherwise.

import { signal } from "../../vendor/signals-core/signals-core.js";

const NAME = "memgate.theme";

export const THEMES = ["system", "light", "dark"];

const stored = localStorage.getItem(NAME);
export const theme = signal(THEMES.includes(stored) ? stored : "system");

/** @param {string} name */
export function setTheme(name) {
  theme.value = name;
  localStorage.setItem(NAME, name);
  apply();
}

function apply() {
  document.documentElement.dataset.theme = theme.peek();
}

apply();
