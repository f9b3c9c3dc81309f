// The pages by their names in the address, in the order of the navigation.

import * as audit from "./audit.js";
import * as jobs from "./jobs.js";
import * as memories from "./memories.js";
import * as operator from "./operator.js";
import * as overview from "./overview.js";
import * as playground from "./playground.js";
import * as requests from "./requests.js";
import * as sessions from "./sessions.js";
import * as why from "./why.js";

/**
 * @typedef {object} Page
 * @property {string} title
 * @property {"user" | "operator"} group
 * @property {boolean} [needsUser]
 * @property {(at: import("../core/router.js").Route) => unknown} view
 * @property {(at: import("../core/router.js").Route) => void | (() => void)} [enter] loads; may return what stops it
 */

/** @type {Record<string, Page>} */
export const PAGES = {
  "": { ...overview, group: "user" },
  memories: { ...memories, group: "user", needsUser: true },
  requests: { ...requests, group: "user" },
  sessions: { ...sessions, group: "user", needsUser: true },
  playground: { ...playground, group: "user", needsUser: true },
  why: { ...why, group: "user", needsUser: true },
  operator: { ...operator, group: "operator" },
  jobs: { ...jobs, group: "operator" },
  audit: { ...audit, group: "operator" },
};
