//! Term counts of a text, small enough to be stored with it.

use crate::index::tokens::{Side, VERSION, tokens};

/// Maximum number of distinct query words; later ones are ignored.
const MAX_QUERY_TERMS: usize = 256;

/// A token's hash. Two of an owner's few thousand words collide with a chance of about one in a
/// million, which affects only the ranking.
pub(super) type TermId = u32;

/// The term counts of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Number of tokens.
    pub length: u32,
    /// Each distinct token with its count, sorted by token.
    pub counts: Vec<(TermId, u16)>,
}

impl Terms {
    /// Counts the words of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut ids = Vec::new();
        let mut length = 0_u32;
        tokens(text, Side::Document, |token| {
            ids.push(id(token.text));
            length = length.saturating_add(u32::from(!token.beside));
        });
        ids.sort_unstable();
        let counts = ids
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], u16::try_from(same.len()).unwrap_or(u16::MAX)))
            .collect();
        Self { length, counts }
    }

    /// Encodes the counts for storage.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(5 + 6 * self.counts.len());
        bytes.push(VERSION);
        bytes.extend(self.length.to_le_bytes());
        for (term, count) in &self.counts {
            bytes.extend(term.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes
    }

    /// Decodes stored counts; `None` if they come from another tokeniser version and must be
    /// recomputed.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (entries, odd) = rest.as_chunks::<6>();
        if *version != VERSION || !odd.is_empty() {
            return None;
        }
        let counts = entries.iter().map(|&[a, b, c, d, e, f]| {
            (u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]))
        });
        Some(Self { length: u32::from_le_bytes(*length), counts: counts.collect() })
    }
}

/// The distinct words of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerms {
    /// Each token, and whether it is a function word.
    pub terms: Vec<(TermId, bool)>,
}

impl QueryTerms {
    /// The words of a query; `None` if it has none.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let mut terms: Vec<(TermId, bool)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        tokens(text, Side::Query, |token| {
            let id = id(token.text);
            if terms.len() < MAX_QUERY_TERMS && seen.insert(id) {
                terms.push((id, token.light));
            }
        });
        (!terms.is_empty()).then_some(Self { terms })
    }
}

/// FNV-1a, folded from 64 bits: short, and the same on every machine, because the numbers are
/// stored.
fn id(token: &str) -> TermId {
    let hash = token.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let [a, b, c, d, e, f, g, h] = hash.to_le_bytes();
    u32::from_le_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_terms_round_trip_and_other_versions_are_refused() {
        let terms = Terms::of("The budget for the Hawaii trip, the whole of it: 預算");
        assert_eq!(Terms::from_bytes(&terms.to_bytes()), Some(terms.clone()));
        let mut other = terms.to_bytes();
        other[0] = VERSION + 1;
        assert_eq!(Terms::from_bytes(&other), None);
        assert_eq!(Terms::from_bytes(&terms.to_bytes()[..7]), None);
        assert_eq!(Terms::from_bytes(&[]), None);
    }

    #[test]
    fn a_query_counts_each_word_once() {
        let query = QueryTerms::of("trip trip Trips budget");
        assert_eq!(query.map(|q| q.terms.len()), Some(2));
        assert_eq!(QueryTerms::of("?! …"), None);
    }
}
