// Plots as SVG, so that they follow the theme and can be read aloud. Each is a list or has a text that says the same.

import { html, nothing, svg } from "../../vendor/lit-html/lit-html.js";

/**
 * Horizontal bars, one a row.
 * @param {{ name: unknown, value: number, text: string, kind?: string, mark?: number }[]} rows `mark`: a second value on the bar
 * @param {number} [most] the value of a whole bar; the largest value by default
 */
export function bars(rows, most = Math.max(...rows.map((row) => row.value), Number.MIN_VALUE)) {
  const place = (value) => `${Math.min(100, Math.max(0, (100 * value) / most))}%`;
  return html`
    <ul class="bars">
      ${rows.map(
        (row) => html`
          <li>
            <span class="bar-name">${row.name}</span>
            <svg class="bar ${row.kind ?? ""}" aria-hidden="true">
              <rect class="track" width="100%" height="100%" rx="4"></rect>
              <rect class="fill" width=${place(row.value)} height="100%" rx="4"></rect>
              ${row.mark === undefined ? nothing : svg`<line class="mark" x1=${place(row.mark)} x2=${place(row.mark)} y1="0" y2="100%"></line>`}
            </svg>
            <span class="bar-text">${row.text}</span>
          </li>
        `,
      )}
    </ul>
  `;
}

/**
 * Columns over time, each stacked of parts.
 * @param {{ title: string, parts: Record<string, number> }[]} columns
 * @param {string[]} names the parts, from below; the index is the colour
 * @param {string} label what the plot shows
 */
export function columns(columns, names, label) {
  const [width, height] = [Math.max(columns.length, 1) * 10, 60];
  const sum = (column) => names.reduce((total, name) => total + (column.parts[name] ?? 0), 0);
  const most = Math.max(...columns.map(sum), 1);
  return html`
    <figure class="plot">
      <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label=${label}>
        ${columns.map((column, at) => {
          let top = height;
          return names.map((name, colour) => {
            const share = ((column.parts[name] ?? 0) / most) * height;
            if (share === 0) return nothing;
            top -= share;
            return svg`<rect class="series-${colour % 6}" x=${at * 10 + 1} y=${top} width="8" height=${share}><title>${column.title}: ${column.parts[name]} ${name}</title></rect>`;
          });
        })}
      </svg>
      <figcaption>
        <p class="ends"><span>${columns[0]?.title ?? ""}</span><span>${columns.at(-1)?.title ?? ""}</span></p>
        <p class="legend">${names.map((name, colour) => html`<span><i class="series-${colour % 6}"></i>${name}</span>`)}</p>
      </figcaption>
    </figure>
  `;
}

/**
 * Points over time: one a request, as high as it took long. The list beside it has the same links for the keyboard.
 * @param {{ at: number, value: number, title: string, href: string, kind: string }[]} points
 * @param {(value: number) => string} text
 * @param {string} label
 */
export function points(points, text, label) {
  const times = points.map((point) => point.at);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const step = tick(Math.max(...points.map((point) => point.value), 1));
  const x = (at) => (last === first ? "50%" : `${9 + 90 * ((at - first) / (last - first))}%`);
  const y = (value) => `${96 - (value / (2.4 * step)) * 92}%`;
  return html`
    <figure class="plot points">
      <svg role="group" aria-label=${label}>
        ${[0, step, 2 * step].map((at) => svg`
          <line class="grid" x1="0" x2="100%" y1=${y(at)} y2=${y(at)}></line>
          ${at === 0 ? nothing : svg`<text class="tick" x="0" y=${y(at)} dy="-4">${text(at)}</text>`}`)}
        ${points.map((point) => svg`
          <a href=${point.href} tabindex="-1" aria-label=${point.title}><circle class=${point.kind} cx=${x(point.at)} cy=${y(point.value)} r="5"><title>${point.title}</title></circle></a>`)}
      </svg>
    </figure>
  `;
}

/** A round step, two of which reach nearly as far as `most`. */
function tick(most) {
  const power = 10 ** Math.floor(Math.log10(most / 2));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => 2.2 * step >= most) ?? 10 * power;
}
