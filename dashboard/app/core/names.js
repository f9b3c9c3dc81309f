// The names of the API in the words of the pages. A test compares them with the enums of memgate.

/** Whether a memory is in use, and if not, why. Those that are to be erased are never shown. */
export const STATUS = {
  active: "active",
  superseded: "superseded",
  review: "review",
  quarantined: "quarantined",
  archived: "archived",
};

/** What decided whether to search. */
export const DECIDED_BY = {
  earlier: "a filter before memgate said so",
  rule: "a rule",
  lexical: "the message's words",
  model: "the trained model",
  memory: "a memory that holds the message's rare words",
  tool_loop: "the first call of this tool loop",
};

/** Why a candidate is not presented. */
export const CUT = {
  threshold: "below the threshold",
  limit: "over the limit",
  near_duplicate: "near duplicate",
  session_cap: "enough of its session",
  scope_cap: "enough of its scope",
  collapsed: "its turn is shown",
  summary: "summary, said better",
  forgotten: "to be forgotten",
  conversation: "said in the conversation",
  preference_known: "among the preferences",
  budget: "no room left",
};

/** What became of something in a turn, as the end of a sentence. */
export const BECAME = {
  kept: "was kept",
  updated: "became a new version",
  merged: "was known already",
  superseded: "was superseded",
  outdated: "was already outdated",
  refused: "was refused",
  redacted: "was stored without secrets",
  dropped: "was not kept",
  forgotten: "made memories forgotten",
};

/** The colour of these. */
export const BECAME_KIND = {
  kept: "good",
  updated: "good",
  superseded: "warn",
  outdated: "warn",
  forgotten: "warn",
  refused: "bad",
  redacted: "bad",
};

/** What an outcome of a turn concerns. */
export const WHAT = { message: "A sentence", reply: "A sentence of the reply", turn: "The turn itself", statement: "A statement", preference: "A preference", command: "A command" };

/** Why a text is remembered and shown, or not. */
export const ANSWERS = {
  never_stored: "It was never stored.",
  superseded: "It was stored, and something newer replaced it.",
  not_asked: "It is stored. No request since is in the trail, so nothing could show it.",
  not_searched: "It is stored. Memory was not searched for the latest request.",
  not_found: "It is stored, and it was not found for the question.",
  cut: "It is stored and was found, but left out.",
  presented: "It is stored, and it was shown.",
};
