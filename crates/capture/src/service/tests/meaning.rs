//! Deletion on request, with the real model: nothing that says something else is deleted.

use serde::Deserialize;

use crate::{forget::meaning, test_support::default_embedder};
use memgate_text::command::Subject;

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(flatten)]
    subject: Subject,
    text: String,
    goes: bool,
}

#[tokio::test]
async fn what_is_deleted_says_what_was_named_and_nothing_else() {
    let model = default_embedder();
    let (mut wrong, mut missed, mut gone) = (Vec::new(), Vec::new(), 0);
    for line in
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/commands/forget.jsonl"))
            .lines()
    {
        let row: Row = serde_json::from_str(line).unwrap();
        let said = row.subject.said_in(&row.text);
        let goes = match &row.subject {
            Subject::Topic(_) => !said.is_empty(),
            Subject::Fact(_) if said.is_empty() => false,
            Subject::Fact(_) => {
                let said = said.into_iter().map(str::to_owned).collect();
                !meaning(&*model, &row.subject, said).await.unwrap().is_empty()
            }
        };
        gone += u32::from(goes && row.goes);
        match (goes, row.goes) {
            (true, false) => wrong.push(row),
            (false, true) => missed.push(row),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "deleted by mistake: {wrong:#?}");
    assert!(missed.len() * 10 <= gone as usize, "{gone} found, not found: {missed:#?}");
}
