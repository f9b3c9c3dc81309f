//! Memories of statements that are repeated, changed or replaced: the default modes without a
//! helper model, with the embedder that memgate serves with.

use crate::{
    service::tests::*,
    test_support::{at, default_embedder, said},
};
use memgate_core::memory::{Filter, Memory, MemoryType, Relation, Status};

struct Home {
    capture: Capture,
    store: Arc<SqliteStore>,
    metrics: Arc<Metrics>,
    _folder: tempfile::TempDir,
}

/// Both of the modes that need no model server.
fn home(policy: Policy) -> Home {
    let embedder = default_embedder();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let store = Arc::new(SqliteStore::open(&file, SqliteOptions::default()).unwrap());
    let metrics = Metrics::new();
    let models = Models::for_embedder(embedder.space()).unwrap();
    let capture = Capture::open(
        &folder.path().join("journal.db"),
        Options::default(),
        Bounds { queue: 64, workers: 2 },
        Settings { extract_locally: true, policy, ..settings(None) },
        Tools {
            store: store.clone(),
            embedder,
            models,
            audit: memgate_access::Audit::none(),
            metrics: metrics.clone(),
            trail: crate::TurnTrail::off(),
            clock: Clock::System,
        },
    )
    .unwrap();
    Home { capture, store, metrics, _folder: folder }
}

impl Home {
    /// Alice says it in a session of its own, so many seconds after the beginning.
    fn offer(&self, text: &str, reply: &str, session: &str, seconds: i64) {
        let told = said("alice", 1, text).reply(reply).session(session).at(seconds).turn();
        let flight = self.capture.exchange_begins();
        flight.known(&told.owner);
        self.capture.offer(told, flight);
    }

    async fn flush(&self) {
        let flushed = self.capture.flush(&owner("alice"), PATIENCE).await.unwrap();
        assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    }

    async fn tell(&self, text: &str, seconds: i64) {
        self.offer(text, "All right.", &format!("s{seconds}"), seconds);
        self.flush().await;
    }

    async fn listed(&self, filter: Option<Filter>) -> Vec<Memory> {
        let query = ListQuery {
            scope: ScopeQuery::of(owner("alice")),
            filter,
            limit: 100,
            cursor: None,
            now: Clock::System.now(),
        };
        self.store.list(&query).await.unwrap().memories
    }

    async fn facts(&self) -> Vec<Memory> {
        let mut facts = self.listed(None).await;
        facts.retain(|memory| memory.memory_type.as_str() != MemoryType::EPISODIC);
        facts.sort_by(|a, b| a.content.cmp(&b.content));
        facts
    }

    async fn of_status(&self, status: Status) -> Vec<String> {
        let found = self.listed(Some(Filter::Status(vec![status]))).await;
        let mut contents: Vec<String> = found.into_iter().map(|memory| memory.content).collect();
        contents.sort();
        contents
    }

    /// Everything that may be presented, in one text.
    async fn in_use(&self) -> String {
        let all = self.listed(None).await;
        all.iter().map(Memory::text).collect::<Vec<_>>().join("\n")
    }
}

const WORDINGS: [[&str; 3]; 5] = [
    ["I live in Berlin.", "My home is in Berlin.", "Berlin is where I live."],
    ["I'm allergic to peanuts.", "I have a peanut allergy.", "I am allergic to peanuts, sadly."],
    ["My dog is called Rex.", "I have a dog named Rex.", "Rex is the name of my dog."],
    [
        "I work as a nurse at St Mary's hospital.",
        "My job is nursing at St Mary's hospital.",
        "I'm a nurse, I work at St Mary's hospital.",
    ],
    ["I prefer tea to coffee.", "I like tea more than coffee.", "I prefer drinking tea to coffee."],
];

#[tokio::test(flavor = "multi_thread")]
async fn five_facts_in_three_wordings_are_few_rows_and_stay_so() {
    let home = home(Policy::PreferNew);
    let mut seconds = 0;
    for round in 0..3 {
        for fact in WORDINGS {
            seconds += 100;
            home.tell(fact[round], seconds).await;
        }
    }
    let facts = home.facts().await;
    assert!(facts.len() <= 6, "{facts:#?}");
    assert!(home.of_status(Status::Superseded).await.is_empty());
    let before: Vec<_> = facts.iter().map(|memory| memory.id.clone()).collect();
    for fact in WORDINGS.iter().flatten() {
        seconds += 100;
        home.tell(fact, seconds).await;
    }
    let after: Vec<_> = home.facts().await.into_iter().map(|memory| memory.id).collect();
    assert_eq!(before, after, "said again, nothing is added and nothing goes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_said_again_is_surer_and_counts_each_turn_once() {
    let home = home(Policy::PreferNew);
    for seconds in [0, 100, 200, 200] {
        home.tell("I'm allergic to peanuts.", seconds).await;
    }
    let facts = home.facts().await;
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].metadata["reinforced"], 2);
    assert!(facts[0].confidence.unwrap() > 0.95);
    let shown = home.metrics.encode();
    assert!(shown.contains(r#"memgate_reconciled_total{outcome="reinforced"} 2"#), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_repeat_what_was_presented_add_no_fact() {
    let home = home(Policy::PreferNew);
    home.tell("I live in Berlin.", 0).await;
    for turn in 1..=50_i64 {
        let reply = "You live in Berlin, as you told me, so take a train from Berlin.";
        home.offer(&format!("How do I get to place {turn}?"), reply, "s", turn * 100);
        if turn % 10 == 0 {
            home.flush().await;
        }
    }
    let facts: Vec<_> = home.facts().await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(facts, ["I live in Berlin."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_learn_one_fact_at_once_leave_one_row() {
    let home = home(Policy::PreferNew);
    for session in ["a", "b", "c"] {
        home.offer("I'm allergic to peanuts.", "All right.", session, 0);
    }
    home.flush().await;
    assert_eq!(home.facts().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_later_holds_and_the_rest_of_the_turn_stays() {
    let home = home(Policy::PreferNew);
    home.tell("I live in Paris. I'm allergic to peanuts.", 0).await;
    home.tell("We moved to Lyon last month.", 1000).await;
    let in_use = home.in_use().await;
    assert!(!in_use.contains("Paris") && in_use.contains("Lyon"), "{in_use}");
    assert!(in_use.contains("User: I'm allergic to peanuts."), "{in_use}");
    let old = home.listed(Some(Filter::Status(vec![Status::Superseded]))).await.remove(0);
    assert_eq!((old.content.as_str(), old.valid_until), ("I live in Paris.", Some(at(1000))));
    let new = home.facts().await.into_iter().find(|memory| memory.content.contains("Lyon"));
    let new = new.unwrap();
    assert_eq!(new.valid_from, Some(at(1000)));
    assert!(new.relations.iter().any(|link| link.kind == "supersedes" && link.target == old.id));
    assert!(old.relations.contains(&Relation::new(Relation::SUPERSEDED_BY, new.id)));
    let turn = home
        .listed(None)
        .await
        .into_iter()
        .find(|m| m.as_turn().is_some_and(|(user, _)| user.starts_with("I'm all")));
    let history = home.store.history(&owner("alice"), &turn.unwrap().id).await.unwrap();
    assert!(history.last().unwrap().content.contains("Paris"), "nothing is lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_made_anew_does_not_bring_back_what_holds_no_longer() {
    let home = home(Policy::PreferNew);
    home.tell("I live in Paris. I'm allergic to peanuts.", 0).await;
    home.tell("We moved to Lyon last month.", 1000).await;
    home.offer("I live in Paris. I'm allergic to peanuts.", "No nuts in Paris then.", "s0", 0);
    home.flush().await;
    let in_use = home.in_use().await;
    assert!(!in_use.contains("Paris") && in_use.contains("peanuts"), "{in_use}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_turn_that_is_learnt_later_replaces_nothing() {
    let home = home(Policy::PreferNew);
    home.tell("We moved to Lyon last month.", 1000).await;
    home.tell("I moved to Paris.", 0).await;
    let facts: Vec<_> = home.facts().await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(facts.len(), 1, "{facts:?}");
    assert!(facts[0].contains("Lyon") && !home.in_use().await.contains("Paris"));
    assert_eq!(home.of_status(Status::Superseded).await.len(), 2, "the statement and its turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn by_policy_the_old_one_holds_or_both_wait_for_somebody() {
    let kept = home(Policy::PreferOld);
    kept.tell("I live in Paris.", 0).await;
    kept.tell("We moved to Lyon.", 1000).await;
    let facts: Vec<_> = kept.facts().await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(facts, ["I live in Paris."]);
    assert!(!kept.in_use().await.contains("Lyon"));
    let flagged = home(Policy::Review);
    flagged.tell("I live in Paris.", 0).await;
    flagged.tell("We moved to Lyon.", 1000).await;
    assert_eq!(flagged.of_status(Status::Review).await, ["I live in Paris.", "We moved to Lyon."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unrelated_stays_beside() {
    let home = home(Policy::PreferNew);
    let told = [
        "My brother's budget is $5,000.",
        "My budget is $10,000.",
        "My red car is a Skoda.",
        "My blue car is a Renault.",
        "My son Tom plays football.",
        "My son Max plays football.",
        "I'm flying to Rome in May.",
        "I'm flying to Oslo in June.",
    ];
    for (seconds, text) in (0..).step_by(100).zip(told) {
        home.tell(text, seconds).await;
    }
    assert!(home.of_status(Status::Superseded).await.is_empty());
    let in_use = home.in_use().await;
    assert!(told.iter().all(|text| in_use.contains(text)), "{in_use}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_things_said_in_one_message_both_stay() {
    let home = home(Policy::PreferNew);
    home.tell("I go swimming on Mondays. I go swimming on Thursdays.", 0).await;
    let in_use = home.in_use().await;
    assert!(in_use.contains("Mondays") && in_use.contains("Thursdays"), "{in_use}");
    assert!(home.of_status(Status::Superseded).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_again_and_again_holds_in_none_of_its_turns_once_it_is_replaced() {
    let home = home(Policy::PreferNew);
    for turn in 0..12 {
        home.tell("I live in Paris. I'm allergic to peanuts.", turn * 100).await;
    }
    home.tell("We moved to Lyon last month.", 5000).await;
    let in_use = home.in_use().await;
    assert!(!in_use.contains("Paris") && in_use.contains("Lyon"), "{in_use}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_only_a_whole_message_tells_puts_the_older_words_away() {
    let home = home(Policy::PreferNew);
    home.tell("My visa interview is in Chennai. I like trains.", 0).await;
    home.tell("My cousin's visa interview was moved to Delhi, by letter", 100).await;
    let told = home.in_use().await;
    assert!(told.contains("in Chennai"), "somebody else's: {told}");
    home.tell("Got a new letter: interview moved, it's at the consulate in Hyderabad now", 200)
        .await;
    let told = home.in_use().await;
    assert!(!told.contains("in Chennai") && told.contains("Hyderabad"), "{told}");
    assert!(told.contains("Delhi") && told.contains("I like trains"), "{told}");
    let all = home.listed(None).await;
    assert!(all.iter().any(|memory| {
        let links = memory.relations.iter().any(|link| link.kind == "supersedes");
        links && memory.content.contains("Hyderabad")
    }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_in_the_same_session_is_no_change() {
    let home = home(Policy::PreferNew);
    home.offer("I go by Kat at work. I like it there.", "Ok.", "s", 0);
    home.flush().await;
    let more = "There's another Kat in the team now, so I'm Katya to everyone there";
    let told = said("alice", 2, more).reply("Ok.").session("s").at(60).turn();
    let flight = home.capture.exchange_begins();
    flight.known(&told.owner);
    home.capture.offer(told, flight);
    home.flush().await;
    assert!(home.in_use().await.contains("by Kat at work"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_change_leaves_of_a_statement_of_two_things_stays() {
    let home = home(Policy::PreferNew);
    home.tell("Our database is Postgres 14 and our migrations run with goose.", 0).await;
    home.tell("We upgraded to Postgres 16 last night, so our database is Postgres 16 now.", 9000)
        .await;
    let facts: Vec<_> = home.facts().await.into_iter().map(|memory| memory.content).collect();
    assert!(facts.iter().any(|fact| fact.contains("goose")), "{facts:#?}");
    assert!(!facts.iter().any(|fact| fact.contains("Postgres 14")), "{facts:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_idle_only_where_it_was_read_and_tells_nothing() {
    let home = home(Policy::PreferNew);
    let long = format!(
        "I live in Lyon and work as a nurse. {}",
        "It was a long day, so what should I cook? ".repeat(60)
    );
    let told = [
        ("Translate into German: the train leaves at nine from platform two", true),
        ("I live in Lyon and I work as a nurse", false),
        ("Remember that my locker at the gym is number 12", false),
        (long.as_str(), false),
    ];
    for ((text, _), seconds) in told.iter().zip((0..).step_by(60)) {
        home.tell(text, seconds).await;
    }
    let turns = home.listed(None).await;
    for (text, idle) in told {
        let turn = turns
            .iter()
            .find(|it| it.as_turn().is_some_and(|(user, _)| user.starts_with(&text[..20])));
        let turn = turn.unwrap();
        assert_eq!(turn.is_idle_turn(), idle, "{text}");
    }
}
