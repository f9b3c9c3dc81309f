// Calls of the REST API (docs/openapi.json).

import { expire, key, owner } from "./session.js";

/** The longest pause before a read that came too often is repeated, in seconds. */
const MOST_PAUSE = 5;
/** The pause before a stream that ended is followed again, in milliseconds. */
const RECONNECT = 3_000;

/** What an answer means that is not memgate's own, as from a gateway before it. */
const UNTOLD = {
  401: "The key or the token is not valid.",
  403: "This key or token may not do that.",
  429: "Too many requests. Try again in a moment.",
  502: "memgate does not answer. Is it still running?",
  503: "memgate does not answer now. Try again in a moment.",
};

/** An answer that is an error, with what the API says of it. */
export class ApiError extends Error {
  /** @param {number} status @param {any} answer the body */
  constructor(status, answer) {
    const detail = answer.error ?? {};
    super(detail.message ?? UNTOLD[status] ?? `memgate answered with status ${status}.`);
    this.status = status;
    this.answer = answer;
    this.code = detail.code;
    this.param = detail.param;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{ query?: Record<string, unknown>, body?: unknown, headers?: Record<string, string>, keepalive?: boolean }} options
 *   members of `query` that are undefined, null or empty are left out
 */
export async function call(method, path, { query = {}, body, headers = {}, keepalive = false } = {}) {
  const sent = key.peek();
  const ask = () => send(method, target(path, query), body, { ...headers, ...authorization(sent) }, keepalive);
  let { response, answer } = await ask();
  const pause = Number(response.headers.get("retry-after") ?? 1);
  if (response.status === 429 && method === "GET" && pause <= MOST_PAUSE) {
    await new Promise((done) => setTimeout(done, pause * 1_000));
    ({ response, answer } = await ask());
  }
  if (!response.ok) {
    if (response.status === 401) signedOut(sent);
    throw new ApiError(response.status, answer);
  }
  return answer;
}

function target(path, query) {
  const members = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return members.length > 0 ? `${path}?${new URLSearchParams(members.map(([name, value]) => [name, String(value)]))}` : path;
}

async function send(method, target, body, headers, keepalive) {
  const named = body === undefined ? headers : { ...headers, "content-type": "application/json" };
  try {
    const response = await fetch(target, {
      method,
      headers: named,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "same-origin",
      keepalive,
    });
    const text = await response.text();
    return { response, answer: text && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text };
  } catch {
    // Nobody answered, or the answer broke off.
    throw new ApiError(0, { error: { message: "memgate does not answer. Is it still running?" } });
  }
}

/**
 * Follows a stream of events. `EventSource` cannot send a key.
 * @param {string} path @param {Record<string, unknown>} query
 * @param {() => void} told called when the stream begins, and when something came
 * @returns {() => void} ends it
 */
export function follow(path, query, told) {
  const end = new AbortController();
  const read = async () => {
    told();
    const response = await fetch(target(path, query), { headers: authorization(key.peek()), signal: end.signal, cache: "no-store" });
    const reader = response.ok ? response.body.pipeThrough(new TextDecoderStream()).getReader() : null;
    for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {
      // Comments keep the connection open.
      if (part.value.includes("event:")) told();
    }
  };
  const again = () => end.signal.aborted || setTimeout(loop, RECONNECT);
  const loop = () => void (end.signal.aborted || read().then(again, again));
  loop();
  return () => end.abort();
}

const authorization = (sent) => (sent ? { authorization: `Bearer ${sent}` } : {});

/** The key is wrong, expired or revoked; another one may have been entered meanwhile. */
function signedOut(sent) {
  if (sent === key.peek()) expire();
}

export const get = (path, query) => call("GET", path, { query });
export const post = (path, body) => call("POST", path, { body });

/**
 * The same for an owner: a user, in a tenant that is not the default one. Answers name their owner like this.
 * @param {{ user_id: string, tenant_id?: string }} owner
 */
export function of({ user_id, tenant_id }) {
  const owner = tenant_id ? { user_id, tenant_id } : { user_id };
  return {
    get: (path, query = {}) => get(path, { ...owner, ...query }),
    post: (path, body = {}) => post(path, { ...owner, ...body }),
    put: (path, body) => call("PUT", path, { body: { ...owner, ...body } }),
    patch: (path, body) => call("PATCH", path, { body: { ...owner, ...body } }),
    delete: (path, options = {}) => call("DELETE", path, { query: owner, ...options }),
  };
}

/** The same for the user whose memories are shown now. */
export const ofUser = () => of(owner());

export const memoryPath = (id) => `/v1/memory/${encodeURIComponent(id)}`;
export const recallPath = (id) => `/v1/recalls/${encodeURIComponent(id)}`;
export const turnPath = (id) => `/v1/turns/${encodeURIComponent(id)}`;
export const sessionPath = (id) => `/v1/sessions/${encodeURIComponent(id)}`;
