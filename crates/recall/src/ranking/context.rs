//! Context features of a hit: its speaker, session and date, and the query's words just before it.
//!
//! The weights (`memory.ranking.weights`) are in log-odds, as relevance is summed. Their defaults are rounded from a
//! fit to two of LoCoMo's conversations (26 and 42; 349 questions); docs/quality.md has the figures on three others.

use std::collections::HashMap;

use crate::{
    hit::Hit,
    ranking::feature::{Feature, Question, RankStep},
    settings::RankingConfig,
};
use memgate_core::memory::Memory;

/// Weight of the cosine of a session's best memories, as a share of the weight of their words.
const SESSION_COSINE: f32 = 1.0 / 6.0;
/// How many of a session's best memories count for what it is about.
const OF_SESSION: usize = 3;

/// The longest name of a speaker (`Ana: I moved`), in bytes.
const MAX_NAME: usize = 64;

/// The context features. They concern the hits that one of them lifts.
pub(super) struct ContextFeatures;

impl Feature for ContextFeatures {
    fn step(&self) -> RankStep {
        RankStep::Context
    }

    fn apply(&self, question: &Question<'_>, ranking: &RankingConfig, hits: &mut [Hit]) -> usize {
        let weights = &ranking.weights;
        let (asked, named) = (question.asked, words(question.text).collect::<Vec<String>>());
        let sessions = if weights.session > 0.0 { sessions(hits) } else { Vec::new() };
        let mut lifted = 0;
        for (at, hit) in hits.iter_mut().enumerate() {
            let (memory, features) = (&hit.memory, &mut hit.breakdown.features);
            let said = memory.event_time.unwrap_or(memory.created_at);
            let where_true = |weight: f32, is: bool| if is { weight } else { 0.0 };
            features.window = weights.window * hit.breakdown.window.unwrap_or(0.0);
            features.session = weights.session * sessions.get(at).copied().unwrap_or(0.0);
            features.speaker = where_true(weights.speaker, is_said_by(memory, &named));
            features.date = where_true(
                weights.date,
                asked.times.meet(said.to_zoned(question.zone.clone()).date()),
            );
            lifted += usize::from(features.sum() > 0.0);
        }
        lifted
    }
}

/// For each hit, the mean evidence of the best memories of its session.
fn sessions(hits: &[Hit]) -> Vec<f32> {
    let mut sessions: HashMap<&str, [[f32; OF_SESSION]; 2]> = HashMap::new();
    for hit in hits {
        let Some(id) = hit.memory.session_id.as_deref() else { continue };
        let [windows, cosines] = sessions.entry(id).or_default();
        keep_best(windows, hit.breakdown.window.unwrap_or(0.0));
        keep_best(cosines, hit.breakdown.cosine.unwrap_or(0.0));
    }
    let of = |hit: &Hit| {
        let [windows, cosines] = sessions.get(hit.memory.session_id.as_deref()?)?;
        Some(mean(windows) + SESSION_COSINE * mean(cosines))
    };
    hits.iter().map(|hit| of(hit).unwrap_or(0.0)).collect()
}

/// Keeps the best values; a session with fewer has zeros for the rest.
fn keep_best(best: &mut [f32; OF_SESSION], mut value: f32) {
    for kept in best {
        if value > *kept {
            std::mem::swap(kept, &mut value);
        }
    }
}

fn mean(best: &[f32; OF_SESSION]) -> f32 {
    best.iter().sum::<f32>() / OF_SESSION as f32
}

/// Whether a memory quotes somebody (`Ana: I moved`) who is among those named.
fn is_said_by(memory: &Memory, named: &[String]) -> bool {
    if memory.as_turn().is_some() {
        return false;
    }
    let start = &memory.content[..memory.content.floor_char_boundary(MAX_NAME)];
    let Some((name, _)) = start.split_once(": ") else { return false };
    let mut name = words(name).peekable();
    name.peek().is_some() && name.all(|word| named.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, civil::Date, tz::TimeZone};

    use super::*;
    use crate::{Query, QueryConfig, RankingWeights, ScoreBreakdown};
    use memgate_core::memory::{MemoryId, MemoryType, Owner, Source};
    use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
    use memgate_models::Models;

    fn hit(content: &str, session: &str, window: f32) -> Hit {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::EPISODIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        memory.session_id = Some(session.to_owned());
        memory.provenance.turn = Some("t".to_owned());
        Hit {
            scope: crate::HitScope::default(),
            memory,
            score: 0.5,
            breakdown: ScoreBreakdown { window: Some(window), ..ScoreBreakdown::default() },
        }
    }

    const WEIGHTS: RankingWeights = RankingWeights {
        window: 12.0,
        session: 12.0,
        speaker: 4.0,
        date: 2.0,
        recency: 0.0,
        importance: 0.0,
    };

    fn standing(mut hits: Vec<Hit>, query: &str) -> Vec<f32> {
        let now = Timestamp::UNIX_EPOCH;
        let asked = Query::of(query, Date::default(), &QueryConfig::default()).asked;
        let models = Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap();
        let relevance = &models.relevance;
        let zone = &TimeZone::UTC;
        let question =
            Question { text: query, replies: false, asked: &asked, relevance, now, zone };
        let ranking = RankingConfig { weights: WEIGHTS, ..RankingConfig::default() };
        ContextFeatures.apply(&question, &ranking, &mut hits);
        hits.iter().map(|hit| hit.breakdown.features.sum()).collect()
    }

    #[test]
    fn the_words_of_whom_the_query_names_stand_higher() {
        let hits = ["Ana Li: I moved", "Ben: I moved", "I moved: twice", "Ana Li"]
            .map(|it| hit(it, "s", 0.0));
        let [ana, ben, none, whole] = standing(hits.into(), "Where did ana li's cat go?")[..]
        else {
            unreachable!()
        };
        assert!(ana > ben, "{ana} {ben}");
        assert_eq!((ben, none, whole), (0.0, 0.0, 0.0));
        let mut turn = hit("", "s", 0.0);
        turn.memory = turn.memory.of_turn("Ana: I moved", Some("Fine".into()));
        assert_eq!(standing(vec![turn], "Did Ana move?"), [0.0], "the user quotes Ana");
    }

    #[test]
    fn what_was_said_at_the_time_that_the_query_names_stands_higher() {
        let mut hits = ["a", "b"].map(|it| hit(it, "s", 0.0));
        hits[1].memory.event_time = Some("2023-05-09T10:00:00Z".parse().unwrap());
        let standing = standing(hits.into(), "What did I buy on 8 May, 2023?");
        assert_eq!(standing, [0.0, WEIGHTS.date]);
    }

    #[test]
    fn a_session_about_the_matter_lifts_all_that_was_said_in_it() {
        let hits =
            vec![hit("a", "s", 0.4), hit("b", "s", 0.2), hit("c", "t", 0.2), hit("d", "t", 0.0)];
        let [a, b, c, d] = standing(hits, "q")[..] else { unreachable!() };
        assert!(a > b && b > c && c > d, "{a} {b} {c} {d}");
    }
}
