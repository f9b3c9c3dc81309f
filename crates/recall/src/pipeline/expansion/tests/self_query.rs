//! A model that tells which memories a question wants.

use crate::pipeline::expansion::tests::*;
use memgate_core::memory::MemoryType;

/// Several that answer alike, each said on a day of its own and tagged by its place.
const LOCKERS: [(&str, &str, &str); 4] = [
    ("The number of my locker at the gym is 1000", "gym", "2026-03-02T10:00:00Z"),
    ("The number of my locker at the pool is 2000", "pool", "2026-03-20T10:00:00Z"),
    ("The number of my locker at the school is 3000", "school", "2026-05-03T10:00:00Z"),
    ("The number of my locker at the office is 4000", "office", "2026-06-03T10:00:00Z"),
];
const QUESTION: &str = "What is the number of my locker?";

/// Members of a request beside the question.
struct Asked {
    techniques: QueryConfig,
    selection: Selection,
    filter: Option<Filter>,
}

impl Asked {
    /// With a limit of so many.
    fn at_most(limit: usize) -> Self {
        Self {
            techniques: QueryConfig { self_query: true, ..techniques(false, 5_000) },
            selection: Selection { limit, threshold: 0.7, types: Vec::new() },
            filter: None,
        }
    }

    async fn hits(&self, recall: &Recall, question: &str) -> Vec<Hit> {
        let now: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        let owner = Owner::of_user("u").unwrap();
        let query = build_query(question, &[PLAN], "2026-07-01".parse().unwrap(), &self.techniques);
        let types = MemoryType::BUILT_IN.map(str::to_owned);
        let filter = self.filter.clone();
        let request = request(&owner, &self.selection, now);
        let mut request = RecallRequest { earlier: &[PLAN], filter, ..request };
        request.settings.types = &types;
        recall.search(&query, &request).await.unwrap()
    }

    /// The tags of what is found where the model says so.
    async fn tags(&self, says_so: &str) -> Vec<String> {
        let (recall, _) = lockers(says_so).await;
        tags(self.hits(&recall, QUESTION).await)
    }
}

fn tags(hits: Vec<Hit>) -> Vec<String> {
    hits.into_iter().flat_map(|hit| hit.memory.tags).collect()
}

async fn lockers(says_so: &str) -> (Recall, Arc<AtomicUsize>) {
    let memories = LOCKERS.map(|(content, tag, time)| Memory {
        tags: vec![tag.to_owned()],
        event_time: Some(time.parse().unwrap()),
        ..memory(content)
    });
    recall_of(memories, Some(says(says_so)), Duration::ZERO).await
}

#[tokio::test]
async fn memories_that_the_model_says_are_wanted_are_presented_beside_the_best() {
    let plain = Asked::at_most(2).tags("{}").await;
    for (_, tag, time) in LOCKERS {
        let day = &time[..10];
        let next = format!("{}9", &day[..9]);
        let conditions =
            [json!({"tags": [tag]}), json!({"since": day, "until": next, "types": ["semantic"]})];
        for told in conditions {
            let found = Asked::at_most(2).tags(&told.to_string()).await;
            let other = found.iter().find(|it| **it != tag);
            assert!(found.contains(&tag.to_owned()), "{told} {found:?}");
            assert!(other.is_none_or(|it| plain.contains(it)), "{told} {found:?}");
            assert!(found.contains(&plain[0]), "the best stays: {told} {found:?}");
        }
    }
}

#[tokio::test]
async fn why_a_memory_stands_higher_is_told() {
    let (recall, _) = lockers(r#"{"tags": ["office"]}"#).await;
    for hit in Asked::at_most(4).hits(&recall, QUESTION).await {
        let is_wanted = hit.memory.tags == ["office"];
        assert_eq!(hit.breakdown.features.self_query > 0.0, is_wanted);
        assert_eq!(hit.breakdown.boost, hit.breakdown.features.sum());
    }
    let counted = r#"memgate_query_technique_hits_total{technique="self_query"} 1"#;
    assert!(recall.services.metrics.encode().contains(counted));
}

#[tokio::test]
async fn conditions_that_are_made_up_lose_nothing() {
    let asked = Asked::at_most(4);
    let plain = asked.tags("{}").await;
    assert_eq!(plain.len(), 4);
    for told in [
        r#"{"tags": ["no such tag"]}"#,
        r#"{"types": ["reflective"], "about": ["Nobody"], "since": "2026-03-01"}"#,
        r#"{"query": "xqzt wvvk"}"#,
        r#"{"types": ["secrets"], "since": "soon", "owner": "v"}"#,
        "I found no conditions.",
        r#"{"tags": ["off"#,
        "<think>{\"tags\": [\"office\"]}",
        "",
    ] {
        assert_eq!(asked.tags(told).await, plain, "{told}");
    }
}

#[tokio::test]
async fn what_is_not_relevant_does_not_become_so_by_meeting_conditions() {
    let all =
        r#"{"types": ["semantic"], "since": "2026-01-01", "query": "locker", "note": "locker"}"#;
    let (recall, asked) = lockers(all).await;
    let hits = Asked::at_most(4).hits(&recall, "Which colour does my sister's bicycle have?").await;
    assert_eq!((tags(hits), asked.load(Ordering::SeqCst)), (vec![], 1));
}

#[tokio::test]
async fn what_the_request_asks_for_is_narrowed_and_never_widened() {
    let mut asked = Asked::at_most(4);
    asked.filter = Some(Filter::Tag("gym".into()));
    assert_eq!(asked.tags(r#"{"tags": ["office"]}"#).await, ["gym"]);
    let mut asked = Asked::at_most(4);
    asked.selection.types = vec![MemoryType::PROCEDURAL.into()];
    assert_eq!(asked.tags(r#"{"types": ["semantic"], "tags": ["office"]}"#).await, [""; 0]);
}

#[tokio::test]
async fn one_request_rewrites_a_vague_question_and_tells_conditions() {
    let told = json!({"query": QUESTION, "tags": ["pool"]}).to_string();
    let (recall, asked) = lockers(&told).await;
    let found = tags(Asked::at_most(2).hits(&recall, "and which one?").await);
    assert!(found.len() == 2 && found.contains(&"pool".to_owned()), "{found:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let metrics = recall.services.metrics.encode();
    for technique in ["rewrite", "self_query"] {
        let counted = format!("technique_hits_total{{technique=\"{technique}\"}}");
        assert!(metrics.contains(&counted), "{technique}");
    }
}

#[tokio::test]
async fn one_request_guesses_an_answer_and_tells_conditions() {
    let told = json!({"note": LOCKERS[1].0, "tags": ["pool"]}).to_string();
    let vaguely = "Which figures open that thing of mine?";
    for (hyde, expected) in [(false, 0), (true, 1)] {
        let (recall, asked) = lockers(&told).await;
        let techniques = QueryConfig { hyde, ..Asked::at_most(2).techniques };
        let found = Asked { techniques, ..Asked::at_most(1) }.hits(&recall, vaguely).await;
        assert_eq!((tags(found).len(), asked.load(Ordering::SeqCst)), (expected, 1), "{hyde}");
    }
}

#[tokio::test]
async fn a_late_or_failing_model_costs_its_deadline_and_nothing_else() {
    let memories = || LOCKERS.map(|(content, ..)| memory(content));
    for (answer, delay) in [
        (Some(says(r#"{"tags": ["office"]}"#)), Duration::from_secs(60)),
        (Some((StatusCode::INTERNAL_SERVER_ERROR, String::new())), Duration::ZERO),
        (None, Duration::ZERO),
    ] {
        let (recall, _) = recall_of(memories(), answer, delay).await;
        let mut asked = Asked::at_most(4);
        asked.techniques.rewrite_deadline_ms = 100;
        let began = Instant::now();
        assert_eq!(asked.hits(&recall, QUESTION).await.len(), 4);
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
