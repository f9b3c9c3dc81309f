// Data that is loaded: what a page shows while it waits, when it has it, and when it failed.

import { signal } from "../../vendor/signals-core/signals-core.js";

/**
 * @template T
 * @typedef {{ state: "idle" | "loading" | "ready" | "failed", data?: T, error?: Error }} Loaded
 */

/** Loads data and keeps it; of several loads at a time the latest counts. While it loads again, the old data stays. */
export class Resource {
  #latest = 0;
  #shown = signal(/** @type {Loaded<any>} */ ({ state: "idle" }));

  get value() {
    return this.#shown.value;
  }

  get data() {
    return this.#shown.value.data;
  }

  /**
   * @param {() => Promise<any>} fetch
   * @param {{ keep?: boolean }} options keep: whether the old data is shown meanwhile
   */
  async load(fetch, { keep = false } = {}) {
    const load = ++this.#latest;
    const before = this.#shown.peek().data;
    if (!keep || before === undefined) this.#shown.value = { state: "loading" };
    try {
      const data = await fetch();
      if (load === this.#latest) this.#shown.value = { state: "ready", data };
    } catch (error) {
      if (load === this.#latest) this.#shown.value = { state: "failed", error, data: keep ? before : undefined };
    }
  }

  /** Replaces the data, after a change that is known to have succeeded. */
  set(data) {
    this.#latest++;
    this.#shown.value = { state: "ready", data };
  }

  clear() {
    this.#latest++;
    this.#shown.value = { state: "idle" };
  }
}
