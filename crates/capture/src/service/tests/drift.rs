//! A change of topic brings the extraction of what was said before it forward.

use crate::{
    service::tests::{
        facts::{facts, model},
        *,
    },
    test_support::said,
};

const WEDDING: [&str; 3] = [
    "My sister Anna is getting married in Porto in June.",
    "My sister Anna invited 80 guests to the wedding in Porto in June.",
    "I'm flying to Porto in June for the wedding of my sister Anna.",
];
const RENT: &str = "The landlord wants twelve percent more rent from us";

async fn house(
    drift_threshold: Option<f32>,
) -> (House, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    let (helper, model) = model([facts(&[])]).await;
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let sessions = SessionRules { summaries: false, drift_threshold, ..SessionRules::default() };
    let settings = Settings { extract_every: 100, sessions, ..settings(Some(helper)) };
    (House::in_folder(folder, settings, Doll::new(true), 64), model.asked)
}

fn tell(house: &House, texts: &[&str]) {
    for (ordinal, text) in (1..).zip(texts) {
        house.offer(said("alice", ordinal, text).reply("").session("s"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_another_topic_is_extracted_at_once() {
    let (house, asked) = house(Some(0.8)).await;
    tell(&house, &[WEDDING[0], WEDDING[1], WEDDING[2], RENT]);
    let asking = || async { asked.lock().unwrap().first().cloned() };
    let request = eventually(asking).await;
    assert!(WEDDING.iter().all(|told| request.contains(told)), "{request}");
    assert!(!request.contains(RENT), "it is for the next batch");
    house.flush("alice").await;
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].contains(RENT));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_goes_on_waits_for_its_batch_and_so_does_all_where_it_is_off() {
    for (threshold, last) in [(Some(0.8), WEDDING[0]), (None, RENT)] {
        let (house, asked) = house(threshold).await;
        tell(&house, &[WEDDING[0], WEDDING[1], WEDDING[2], last]);
        house.flush("alice").await;
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "only the end of the session asked");
        assert!(asked[0].contains(last));
    }
}
