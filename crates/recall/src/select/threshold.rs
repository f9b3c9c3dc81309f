//! Which of the ranked hits are presented. Relevance decides which pass, the order which come first.

use std::collections::HashMap;
use std::time::Instant;

use crate::{
    hit::{Hit, HitScope},
    ranking::RankStep,
    request::{RecallRequest, Selection},
    select::dedup::Presented,
    settings::{RankingConfig, ScopesConfig},
    trail::{Cut, Trace},
};
use memgate_core::memory::{MemoryKind, Owner};
use memgate_models::log_odds;
use memgate_telemetry::Metrics;

/// How much more relevant than every other hit a summary must be to be presented beside them, in log-odds: where turns
/// only touch on what is asked, it alone may answer. On the stories in testdata it changes nothing.
const CLEARLY: f32 = 1.0;

/// The ranked hits that are presented.
#[must_use]
pub fn select(
    hits: Vec<Hit>,
    selection: &Selection,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> Vec<Hit> {
    Limits { selection, ranking, scopes: None, trace: None }.select(hits, metrics)
}

/// The limits of a request's hits.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    selection: &'a Selection,
    ranking: &'a RankingConfig,
    /// The limits of the scopes; none without it, and where nothing shared is searched.
    scopes: Option<&'a ScopesConfig>,
    /// Where hits that are cut go; nowhere without it.
    trace: Option<&'a Trace>,
}

impl<'a> Limits<'a> {
    pub(crate) fn of(request: &RecallRequest<'a>) -> Self {
        let RecallRequest { selection, settings, trace, .. } = *request;
        let scopes = Some(settings.scopes).filter(|scopes| scopes.shared);
        Self { selection, ranking: settings.ranking, scopes, trace }
    }

    /// The ranked hits that are presented. Summaries of the user's own sessions are presented only if nothing else is, or
    /// if one is clearly better than all else.
    pub(crate) fn select(self, hits: Vec<Hit>, metrics: &Metrics) -> Vec<Hit> {
        let started = Instant::now();
        let mut left_out = LeftOut::new(self.trace.map(|_| hits.len()));
        let (others, summaries) = without_summaries(hits);
        let mut presented = passing(others, self, &mut left_out);
        let counted = (left_out.distinct, left_out.session);
        let mut summaries = passing(summaries, self, &mut left_out);
        (left_out.distinct, left_out.session) = counted;
        let own = presented.iter().filter(|hit| hit.scope.is_own()).map(|hit| hit.score);
        if let Some(best) = own.max_by(f32::total_cmp) {
            let far = log_odds(best) + CLEARLY;
            let mut taken = 0;
            let is_beside = |summary: &mut Hit| {
                taken += usize::from(log_odds(summary.score) >= far);
                log_odds(summary.score) < far || taken > 1
            };
            let beside = summaries.extract_if(.., is_beside);
            beside.for_each(|summary| left_out.cut(summary, Cut::Summary));
        }
        presented.splice(0..0, summaries);
        let mut taken = Taken::default();
        let many = presented.extract_if(.., |hit| {
            let is_full = taken.full(hit.scope, self).is_some();
            taken.add(hit.scope);
            is_full
        });
        many.for_each(|hit| left_out.cut(hit, Cut::Limit));
        metrics.ranked(RankStep::Select.into(), started.elapsed(), presented.len());
        left_out.count(self.ranking, metrics);
        if let (Some(trace), Some(cut)) = (self.trace, left_out.hits) {
            trace.cut(cut);
        }
        presented
    }
}

/// The hits that are not presented: how many each rule left out, and the hits themselves, where
/// there is a trace.
struct LeftOut {
    distinct: usize,
    session: usize,
    hits: Option<Vec<(Hit, Cut)>>,
}

/// A rule that leaves out memories above the threshold, by the key of `memory.ranking` that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum RankRule {
    /// A near-duplicate of a better memory.
    Deduplicate,
    /// Its session already has the maximum number of memories.
    MaxPerSession,
}

impl LeftOut {
    /// `traced`: how many hits there are, where they go into a trace.
    fn new(traced: Option<usize>) -> Self {
        Self { distinct: 0, session: 0, hits: traced.map(Vec::with_capacity) }
    }

    fn cut(&mut self, hit: Hit, why: Cut) {
        match why {
            Cut::NearDuplicate => self.distinct += 1,
            Cut::SessionCap => self.session += 1,
            _ => {}
        }
        if let Some(hits) = &mut self.hits {
            hits.push((hit, why));
        }
    }

    fn count(&self, ranking: &RankingConfig, metrics: &Metrics) {
        let rules = [
            (RankRule::Deduplicate, ranking.deduplicate, self.distinct),
            (RankRule::MaxPerSession, ranking.max_per_session > 0, self.session),
        ];
        for (rule, on, hits) in rules {
            if on {
                metrics.left_out(rule, hits as u64);
            }
        }
    }
}

/// Number of hits of each scope that are presented so far.
#[derive(Default)]
struct Taken(HashMap<HitScope, usize>);

impl Taken {
    fn of(&self, scopes: &[HitScope]) -> usize {
        scopes.iter().filter_map(|scope| self.0.get(scope)).sum()
    }

    /// Why there is no place left for a hit of this scope. The user's own have the selection's places; where memories are
    /// shared, those of the session and the others have places of their own, never more than a selection has.
    fn full(&self, scope: HitScope, limits: Limits<'_>) -> Option<Cut> {
        let Limits { selection: Selection { limit, .. }, scopes, .. } = limits;
        let most = |of: fn(&ScopesConfig) -> usize| scopes.map_or(*limit, of).min(*limit);
        let own = if scopes.is_some() { &[HitScope::User] } else { HitScope::OWN };
        if own.contains(&scope) {
            return (self.of(own) >= *limit).then_some(Cut::Limit);
        }
        let (taken, most) = match scope {
            HitScope::User | HitScope::Session => (self.of(&[scope]), most(|it| it.session)),
            HitScope::Agent => (self.of(&[scope]), most(|it| it.agent)),
            HitScope::Organisation | HitScope::Shared => {
                let both = [HitScope::Organisation, HitScope::Shared];
                (self.of(&both), most(|it| it.organisation))
            }
        };
        (taken >= most).then_some(Cut::ScopeCap)
    }

    fn add(&mut self, scope: HitScope) {
        *self.0.entry(scope).or_default() += 1;
    }
}

/// The hits that pass, best first. The user's own choose before what others share: nothing that others share takes their
/// places or stands for them.
fn passing(hits: Vec<Hit>, limits: Limits<'_>, left_out: &mut LeftOut) -> Vec<Hit> {
    let Limits { selection, ranking, .. } = limits;
    let mut shown: Vec<(usize, Hit)> = Vec::new();
    let mut before = Presented::default();
    let mut sessions: HashMap<(Owner, String), usize> = HashMap::new();
    let mut taken = Taken::default();
    let (own, shared): (Vec<_>, Vec<_>) =
        hits.into_iter().enumerate().partition(|(_, hit)| hit.scope.is_own());
    for (place, hit) in own.into_iter().chain(shared) {
        let max_per_session = ranking.max_per_session;
        let fills_session = |hit: &Hit| {
            let session = session_of(hit).filter(|_| max_per_session > 0);
            let shown = session.and_then(|session| sessions.get(&session));
            shown.is_some_and(|shown| *shown >= max_per_session)
        };
        let cut = if hit.score < selection.threshold {
            Some(Cut::Threshold)
        } else if let Some(full) = taken.full(hit.scope, limits) {
            Some(full)
        } else if fills_session(&hit) {
            Some(Cut::SessionCap)
        } else if ranking.deduplicate && !before.is_new(&hit) {
            Some(Cut::NearDuplicate)
        } else {
            None
        };
        if let Some(why) = cut {
            left_out.cut(hit, why);
            continue;
        }
        taken.add(hit.scope);
        if let Some(session) = session_of(&hit) {
            *sessions.entry(session).or_default() += 1;
        }
        shown.push((place, hit));
    }
    shown.sort_by_key(|(place, _)| *place);
    shown.into_iter().map(|(_, hit)| hit).collect()
}

/// Takes the summaries of the user's sessions out of the hits. A fact or a turn says it better; beside these a summary
/// repeats them, or says what they have corrected since.
fn without_summaries(hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
    hits.into_iter().partition(|hit| hit.memory.kind != MemoryKind::Summary || !hit.scope.is_own())
}

/// The session that a hit is of: two owners' sessions may have one name.
fn session_of(hit: &Hit) -> Option<(Owner, String)> {
    Some((hit.memory.owner.clone(), hit.memory.session_id.clone()?))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{Memory, MemoryId, MemoryKind, MemoryType, Owner, Source};

    fn hit(content: &str, session: &str, score: f32) -> Hit {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        memory.session_id = Some(session.to_owned());
        Hit {
            memory,
            scope: crate::HitScope::default(),
            score,
            breakdown: ScoreBreakdown::default(),
        }
    }

    /// The hits that a ranking presents, and the metrics.
    fn presented(hits: Vec<Hit>, ranking: &RankingConfig) -> (Vec<String>, String) {
        let selection = Selection { limit: 5, threshold: 0.6, types: Vec::new() };
        let metrics = Metrics::new();
        let shown = select(hits, &selection, ranking, &metrics);
        (shown.into_iter().map(|hit| hit.memory.content).collect(), metrics.encode())
    }

    fn all() -> Vec<Hit> {
        vec![
            hit("a cat", "s", 0.97),
            hit("a cat!", "t", 0.96),
            hit("a dog", "s", 0.95),
            hit("far behind", "u", 0.61),
            hit("below the threshold", "u", 0.59),
        ]
    }

    #[test]
    fn each_rule_leaves_out_what_it_is_for_and_is_counted() {
        let none = RankingConfig { deduplicate: false, ..RankingConfig::default() };
        let (shown, told) = presented(all(), &none);
        assert_eq!(shown, ["a cat", "a cat!", "a dog", "far behind"]);
        assert!(!told.contains("memgate_ranking_left_out_total{"), "{told}");
        let on = |name: &str| {
            let mut ranking = none.clone();
            match name {
                "deduplicate" => ranking.deduplicate = true,
                _ => ranking.max_per_session = 1,
            }
            ranking
        };
        let rules = [("deduplicate", "a cat!"), ("max_per_session", "a dog")];
        for (name, left_out) in rules {
            let (shown, told) = presented(all(), &on(name));
            assert_eq!((shown.len(), shown.iter().any(|it| it == left_out)), (3, false), "{name}");
            let counted = format!("memgate_ranking_left_out_total{{rule=\"{name}\"}} 1");
            assert!(told.contains(&counted), "{told}");
        }
    }

    #[test]
    fn each_scope_has_its_limit_and_the_users_own_have_the_selections() {
        let selection = Selection { limit: 20, threshold: 0.6, types: Vec::new() };
        let ranking = RankingConfig { deduplicate: false, ..RankingConfig::default() };
        let scopes = ScopesConfig {
            session: 4,
            agent: 2,
            organisation: 3,
            shared: true,
            ..ScopesConfig::default()
        };
        let of = [
            HitScope::User,
            HitScope::Session,
            HitScope::Agent,
            HitScope::Organisation,
            HitScope::Shared,
        ];
        let hits = || -> Vec<Hit> {
            let of_all = |number| {
                let name = format!("{number}");
                of.map(|scope| Hit { scope, ..hit(&name, &name, 0.9) })
            };
            (0..6).flat_map(of_all).collect()
        };
        let limits =
            Limits { selection: &selection, ranking: &ranking, scopes: Some(&scopes), trace: None };
        let shown = limits.select(hits(), &Metrics::new());
        let count = |scope| shown.iter().filter(|hit| hit.scope == scope).count();
        assert_eq!(of.map(count), [6, 4, 2, 2, 1]);
        let selection = Selection { limit: 1, ..selection.clone() };
        let limits = Limits { selection: &selection, ..limits };
        let shown = limits.select(hits(), &Metrics::new());
        let shown: Vec<HitScope> = shown.iter().map(|hit| hit.scope).collect();
        assert_eq!(
            shown,
            [HitScope::User, HitScope::Session, HitScope::Agent, HitScope::Organisation]
        );
    }

    #[test]
    fn what_others_share_takes_no_place_of_the_users_own_and_stands_for_none_of_them() {
        let shared =
            |content: &str, score| Hit { scope: HitScope::Shared, ..hit(content, "s", score) };
        let mut copied = shared("a cat", 0.99);
        copied.memory.owner = Owner::of_user("another").unwrap();
        let mut hits = vec![copied, shared("a cow", 0.98), shared("a hen", 0.97)];
        hits.extend([hit("a cat", "s", 0.9), hit("a dog", "s", 0.8)]);
        let selection = Selection { limit: 2, threshold: 0.6, types: Vec::new() };
        let ranking = RankingConfig { max_per_session: 2, ..RankingConfig::default() };
        let shown = select(hits, &selection, &ranking, &Metrics::new());
        let shown: Vec<&str> = shown.iter().map(|hit| &*hit.memory.content).collect();
        assert_eq!(shown, ["a cat", "a dog"]);
    }

    #[test]
    fn a_summary_is_presented_alone_or_where_it_is_clearly_more_relevant_than_the_rest() {
        let summary = |score| {
            let mut summary = hit("the party will be in Porto, by the river", "s", score);
            summary.memory.kind = MemoryKind::Summary;
            summary
        };
        let ranking = RankingConfig::default();
        let shown =
            |score| presented(vec![hit("by the river", "t", 0.65), summary(score)], &ranking).0;
        assert_eq!(shown(0.7), ["by the river"]);
        assert_eq!(shown(0.95), ["the party will be in Porto, by the river", "by the river"]);
        assert_eq!(presented(vec![summary(0.7)], &ranking).0.len(), 1);
    }

    #[test]
    fn what_is_left_out_for_one_reason_does_not_stand_for_its_session_or_its_words() {
        let hits = vec![hit("a cat", "s", 0.97), hit("a cat.", "t", 0.96), hit("a dog", "t", 0.95)];
        let ranking = RankingConfig { max_per_session: 1, ..RankingConfig::default() };
        assert_eq!(presented(hits, &ranking).0, ["a cat", "a dog"]);
    }
}
