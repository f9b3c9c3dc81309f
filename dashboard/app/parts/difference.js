// What changed between two texts, word by word: a longest common subsequence.

import { html } from "../../vendor/lit-html/lit-html.js";

/** Longer texts are shown whole: the table below has a cell for each pair of words. */
const MOST_WORDS = 400;

/** @param {string} before @param {string} after */
export function difference(before, after) {
  const [old, now] = [before, after].map((text) => text.split(/(\s+)/));
  if (old.length > MOST_WORDS || now.length > MOST_WORDS) return html`<del>${before}</del> <ins>${after}</ins>`;
  const common = table(old, now);
  const parts = [];
  const push = (kind, word) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += word;
    else parts.push({ kind, text: word });
  };
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      push("same", old[i++]);
      j++;
    } else if (j === now.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) push("del", old[i++]);
    else push("ins", now[j++]);
  }
  const shown = { same: (text) => text, del: (text) => html`<del>${text}</del>`, ins: (text) => html`<ins>${text}</ins>` };
  return parts.map(({ kind, text }) => shown[kind](text));
}

/** `common[i][j]`: how many words the rest of `a` from i and that of `b` from j have in common. */
function table(a, b) {
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}
