// Reads the metrics of `/metrics` (docs/metrics.md), which is OpenMetrics text.

import { get } from "./api.js";

/** @typedef {{ name: string, labels: Record<string, string>, value: number }} Sample */

/** @returns {Promise<Metrics>} */
export const readMetrics = async () => new Metrics(await get("/metrics"));

export class Metrics {
  /** @type {Sample[]} */
  #samples;

  /** @param {string} text */
  constructor(text) {
    this.#samples = text
      .split("\n")
      .map((line) => /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line))
      .filter((match) => match !== null)
      .map(([, name, labels = "", value]) => ({ name, labels: read(labels), value: Number(value) }));
  }

  /** The sum of a metric's samples with these labels. @param {string} name @param {Record<string, string>} labels */
  sum(name, labels = {}) {
    return this.#of(name, labels).reduce((sum, sample) => sum + sample.value, 0);
  }

  /** The samples above 0 by a label, the largest first. @param {string} name @param {string} label @returns {[string, number][]} */
  by(name, label) {
    const values = this.#of(name, {}).filter((sample) => sample.value > 0);
    return values.map((sample) => /** @type {[string, number]} */ ([sample.labels[label], sample.value])).sort((a, b) => b[1] - a[1]);
  }

  /**
   * A quantile of a histogram, as a straight line through its bucket. Null without values.
   * @param {string} name @param {number} share @param {Record<string, string>} labels
   */
  quantile(name, share, labels = {}) {
    const buckets = this.#of(`${name}_bucket`, labels)
      .map((sample) => ({ bound: sample.labels.le === "+Inf" ? Infinity : Number(sample.labels.le), below: sample.value }))
      .sort((a, b) => a.bound - b.bound);
    const wanted = (buckets.at(-1)?.below ?? 0) * share;
    if (wanted === 0) return null;
    const at = buckets.findIndex((bucket) => bucket.below >= wanted);
    const [{ bound: from, below: before }, to] = [buckets[at - 1] ?? { bound: 0, below: 0 }, buckets[at]];
    if (to.bound === Infinity) return from;
    return from + ((to.bound - from) * (wanted - before)) / (to.below - before);
  }

  #of(name, labels) {
    const wanted = Object.entries(labels);
    return this.#samples.filter((sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value));
  }
}

/** @param {string} labels @returns {Record<string, string>} */
function read(labels) {
  return Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));
}
