// The words of a request's candidates. The trail holds ids; what the key may read is read by them.

import { ApiError, memoryPath, of } from "../../core/api.js";

/** The most candidates whose words are read: those shown at once and some more. */
const MOST = 20;

/** The same recall with the words of its best candidates, as they are now. */
export async function withContents(recall) {
  // A session without a user has no memories that a key reads by their ids.
  if (!recall.user_id) return recall;
  const read = async (candidate) => {
    if (candidate.content) return candidate;
    try {
      const memory = await of(recall).get(memoryPath(candidate.memory_id));
      return { ...candidate, content: memory.content };
    } catch (error) {
      // What was deleted since is shown by its id.
      if (error instanceof ApiError && error.status === 404) return candidate;
      throw error;
    }
  };
  const best = await Promise.all(recall.candidates.slice(0, MOST).map(read));
  return { ...recall, candidates: [...best, ...recall.candidates.slice(MOST)] };
}
