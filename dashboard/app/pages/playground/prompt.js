// The messages of a request, with what memgate added marked.

import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { badge } from "../../parts/pieces.js";

/** @param {{ role: string, content: string }[]} messages @param {string} context */
export const prompt = (messages, context) => messages.map((message) => {
  const at = context ? message.content.indexOf(context) : -1;
  const [before, after] = at < 0 ? [message.content, ""] : [message.content.slice(0, at), message.content.slice(at + context.length)];
  return html`
    <div class="message">
      <p class="meta">${badge(message.role, "outline")}</p>
      ${before.trim() ? html`<pre dir="auto">${before}</pre>` : nothing}
      ${at < 0 ? nothing : html`<div class="message added"><p class="meta">added by memgate</p><pre dir="auto">${context}</pre></div>`}
      ${after.trim() ? html`<pre dir="auto">${after}</pre>` : nothing}
    </div>
  `;
});
