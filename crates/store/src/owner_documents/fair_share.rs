//! Which memories are searched of what others share, where they are more than a search reads: no owner takes the places of
//! all others.

use std::collections::HashMap;

use memgate_core::memory::{Owner, Reader};

/// Maximum number of memories that are searched of what others share with a reader.
pub(crate) const MAX_SHARED: usize = if cfg!(test) { 32 } else { 5_000 };

/// This many of the newest memories of an organisation and of an agent come before any user's: users cannot hide them, and
/// they do not hide everything that users share.
const HEAD_START: usize = MAX_SHARED / 5 * 4;

/// The memories that are searched, newest first, of those that a reader may read, newest first. The owners take turns,
/// each with the newest memory left. [`fair_share_sql`] does the same.
pub(crate) fn fair_share<T>(newest_first: Vec<T>, owner: impl Fn(&T) -> &Owner) -> Vec<T> {
    if newest_first.len() <= MAX_SHARED {
        return newest_first;
    }
    let mut turns: HashMap<Owner, usize> = HashMap::new();
    let ranked = newest_first.into_iter().enumerate().map(|(place, memory)| {
        let owner = owner(&memory);
        let before = if owner.user().is_some() { HEAD_START } else { 0 };
        let turn = turns.entry(owner.clone()).or_insert(before);
        *turn += 1;
        (*turn, place, memory)
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_unstable_by_key(|&(turn, place, _)| (turn, place));
    ranked.truncate(MAX_SHARED);
    ranked.sort_unstable_by_key(|&(_, place, _)| place);
    ranked.into_iter().map(|(.., memory)| memory).collect()
}

/// [`fair_share`] as SQL: the text before and after the two [`space_keys`], which are parameters. `number` is the column of
/// a memory's number, `condition` selects what the reader may read.
pub(crate) fn fair_share_sql(number: &str, condition: &str) -> [String; 2] {
    let before = format!(
        "{number} IN (SELECT {number} FROM (SELECT {number}, owner, created_at, id, \
             row_number() OVER (PARTITION BY owner ORDER BY created_at DESC, id DESC) AS turn \
             FROM memories WHERE {condition}) AS ranked \
         ORDER BY turn + CASE WHEN owner IN ("
    );
    let after = format!(
        ") THEN 0 ELSE {HEAD_START} END, created_at DESC, id DESC, owner LIMIT {MAX_SHARED}) \
         ORDER BY created_at DESC, id DESC, owner"
    );
    [before, after]
}

/// The partition keys of the owners that are no users and share with a reader: the organisation and the reader's agent. No
/// owner has the empty key.
pub(crate) fn space_keys(reader: &Reader) -> [String; 2] {
    let tenant = reader.owner.tenant();
    let agent = reader.agent.as_deref().map(|agent| Owner::agent(tenant, agent));
    [Owner::organisation(tenant).ok(), agent.and_then(Result::ok)]
        .map(|owner| owner.map_or_else(String::new, |owner| owner.key()))
}
