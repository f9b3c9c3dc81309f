//! The conformance suite of stores: `conforms!` creates one test per case for a store.
//!
//! It must not depend on how a store works.

mod basics;
mod differences;
mod entities;
mod lists;
mod searches;
mod shared;
mod transfer;
mod unreadable;
mod values;
mod vectors;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub(super) use self::{
    basics::*, differences::*, entities::*, lists::*, searches::*, shared::*, transfer::*,
    unreadable::*, values::*, vectors::*,
};
use memgate_core::memory::{
    Actor, Embedding, Evidence, Memory, MemoryId, MemoryKind, MemoryType, Owner, QueryVector,
    ScopeQuery, Search, Source, Write,
};
use memgate_text::entity::{EntityRelation, Mention};

/// One test per case. `$make` creates an empty store and everything that must live as long.
/// `$sequences` is the number of random sequences of operations. With `ignore`, the tests need the
/// server that it names, and only run where they are asked for (`--run-ignored`).
macro_rules! conforms {
    (@one $make:expr; ($($sequences:expr)?) ($($server:tt)?) $case:ident) => {
        #[tokio::test]
        $(#[ignore = $server])?
        async fn $case() {
            let (store, _kept) = $make.await;
            $crate::conformance::$case(&store $(, $sequences)?).await;
            memgate_core::memory::MemoryStore::close(&store).await;
        }
    };
    ($make:expr, $sequences:expr $(, ignore = $server:tt)?) => {
        $crate::conformance::conforms! { $make; ($sequences) ($($server)?)
            nobody_sees_anything_of_anybody_else
            no_sequence_of_operations_tells_stores_apart
            what_is_stored_comes_back_equal
        }
        $crate::conformance::conforms! { $make; () ($($server)?)
            a_stored_memory_comes_back_whole
            several_memories_are_got_at_once
            an_id_is_taken_once_an_owner
            an_update_makes_a_version_and_keeps_the_old_one
            what_else_is_known_is_written_without_a_version
            an_update_of_another_version_changes_nothing
            of_many_updates_at_once_one_wins
            many_writers_lose_nothing
            what_is_forgotten_is_gone_with_its_history
            several_are_forgotten_at_once
            a_history_is_forgotten_and_the_memory_stays
            forgetting_a_scope_spares_the_rest
            clearing_leaves_nothing
            touches_count_and_bring_nothing_back
            what_is_not_in_use_is_shown_to_nobody
            what_cannot_be_stored_is_refused_by_field
            strange_ids_and_texts_are_kept_as_they_are
            a_closed_store_says_so
            lists_are_newest_first_and_page_without_gaps
            pages_stay_stable_while_memories_are_added
            scopes_narrow_by_project_agent_session_and_type
            every_kind_of_filter_narrows
            too_large_a_filter_is_refused
            an_entity_is_found_however_its_name_is_spelt
            hostile_names_are_names
            an_update_replaces_mentions_and_history_keeps_the_old
            an_entity_of_one_owner_is_unknown_to_all_others
            nothing_is_left_of_an_entity_that_is_forgotten
            counts_are_of_what_is_in_use
            words_find_what_holds_them
            the_words_said_just_before_count
            vectors_find_what_is_near
            the_nearest_part_counts
            an_exact_scope_holds_nothing_of_a_wider_or_another_one
            the_best_of_both_kinds_are_returned
            a_search_for_nothing_in_particular_gives_the_newest
            several_scopes_are_merged_without_repetition
            an_answer_is_found_where_it_is_asked_for_and_changes_no_score_elsewhere
            another_owners_memories_change_no_score
            a_search_sees_every_write_before_it
            what_is_shared_is_found_by_those_it_is_shared_with
            an_owner_who_shares_thousands_hides_nobody_elses_memories
            what_is_taken_back_is_shared_no_longer
            what_is_shared_is_searched_apart_and_beside_ones_own
            what_is_shared_is_narrowed_like_ones_own
            what_is_not_shared_with_a_reader_changes_no_score
            what_nobody_could_read_is_not_shared
            the_spaces_of_one_name_are_different_owners
            what_expires_can_be_kept_longer_together
            other_spaces_and_dimensions_do_not_compare
            memories_without_a_vector_are_found_and_back_filled
            a_new_space_is_back_filled_beside_the_old
            a_memory_names_its_spaces_once_each
            changed_content_loses_its_old_vectors
            all_of_a_store_is_carried_to_another_and_back
            a_memory_is_written_once_however_often_it_is_brought
            a_scan_meets_all_of_one_owner_and_nothing_else
            a_scan_goes_on_while_memories_come_and_go
            a_scan_from_nowhere_is_refused
            what_cannot_be_a_whole_is_refused_by_field
            a_row_that_cannot_be_read_costs_itself_alone
            versions_and_counts_end_before_they_overflow
        }
    };
    ($make:expr; $sequences:tt $server:tt $($case:ident)*) => {
        $( $crate::conformance::conforms! { @one $make; $sequences $server $case } )*
    };
}
pub(super) use conforms;

/// Sequences for a store in this process.
pub(super) const SEQUENCES: u32 = 24;

/// An embedding space.
const SPACE: &str = "test/4/mean";

/// Audit details for cases that do not check them.
fn write() -> Write {
    Write::by(Actor::Api, "test")
}

fn owner(user: &str) -> Owner {
    Owner::of_user(user).unwrap()
}

/// Seconds after the start of all cases.
fn at(seconds: i64) -> Timestamp {
    "2026-03-01T12:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

/// The time of all searches.
fn now() -> Timestamp {
    at(100_000)
}

fn id(id: &str) -> MemoryId {
    MemoryId::from_outside(id)
}

fn note(user: &str, name: &str, content: &str) -> Memory {
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    Memory::new(id(name), owner(user), kind, content, Source::ExplicitUserInput, at(0))
}

fn mention(name: &str, kind: Option<&str>) -> Mention {
    Mention { name: name.into(), kind: kind.map(str::to_owned) }
}

fn relation(subject: &str, predicate: &str, object: &str) -> EntityRelation {
    let [subject, predicate, object] = [subject, predicate, object].map(str::to_owned);
    EntityRelation { subject, predicate, object }
}

/// A normalised vector in this direction.
fn direction(values: [f32; 4]) -> Arc<[f32]> {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.map(|value| value / length).into()
}

fn embedding(part: u16, values: [f32; 4]) -> Embedding {
    Embedding { space: SPACE.into(), part, values: direction(values) }
}

fn query(values: [f32; 4]) -> QueryVector {
    QueryVector { space: SPACE.into(), values: direction(values) }
}

/// A search through all memories of one user.
fn search(user: &str) -> Search {
    Search {
        scopes: vec![ScopeQuery::of(owner(user))],
        shared: None,
        filter: None,
        vector: None,
        text: None,
        limit: 10,
        now: now(),
    }
}

fn words(user: &str, text: &str) -> Search {
    Search { text: Some(text.into()), ..search(user) }
}

fn near(user: &str, values: [f32; 4]) -> Search {
    Search { vector: Some(query(values)), ..search(user) }
}

/// The found ids, in order.
fn ids(found: &[Evidence]) -> Vec<&str> {
    found.iter().map(|evidence| evidence.memory.id.as_str()).collect()
}

/// The found ids, sorted.
fn sorted(found: &[Evidence]) -> Vec<&str> {
    let mut ids = ids(found);
    ids.sort_unstable();
    ids
}
