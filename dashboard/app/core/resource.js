// Data that is loaded: what a page shows while it waits, when it has it, and when it failed.

import { signal } from "../../vendor/signals-core/signals-core.js";
import { tenant, user } from "./session.js";

/**
 * @template T
 * @typedef {{ state: "idle" | "loading" | "ready" | "failed", data?: T, error?: Error }} Loaded
 */

/** @type {Loaded<any>} */
const IDLE = { state: "idle" };

/**
 * Loads data and keeps it as long as the same user is looked at: nobody's data is shown as another's. Of several loads at a
 * time the latest counts.
 */
export class Resource {
  #latest = 0;
  #shown = signal({ of: "", loaded: IDLE });

  get value() {
    const { of, loaded } = this.#shown.value;
    return of === owner() ? loaded : IDLE;
  }

  get data() {
    return this.value.data;
  }

  /**
   * @param {() => Promise<any>} fetch
   * @param {{ keep?: boolean }} options keep: whether the old data is shown meanwhile
   */
  async load(fetch, { keep = false } = {}) {
    const [load, of] = [++this.#latest, owner()];
    const show = (loaded) => load === this.#latest && (this.#shown.value = { of, loaded });
    const before = keep ? this.value.data : undefined;
    if (before === undefined) show({ state: "loading" });
    try {
      show({ state: "ready", data: await fetch() });
    } catch (error) {
      show({ state: "failed", error, data: before });
    }
  }

  /** Replaces the data, after a change that is known to have succeeded. */
  set(data) {
    this.#latest++;
    this.#shown.value = { of: owner(), loaded: { state: "ready", data } };
  }

  clear() {
    this.#latest++;
    this.#shown.value = { of: owner(), loaded: IDLE };
  }
}

const owner = () => JSON.stringify([user.value, tenant.value]);
