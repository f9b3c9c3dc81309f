//! Rows that cannot be read, and words of another tokeniser.

use async_trait::async_trait;

use crate::{conformance::Damage, sqlite::tests::*};
use memgate_telemetry::Metrics;

#[async_trait]
impl Damage for SqliteStore {
    async fn damage(&self, owner: &Owner, id: &MemoryId, way: usize) -> bool {
        let ways = [
            "valid_until = 9223372036854775807",
            "created_at = -9223372036854775808",
            "version = -1",
            "access_count = -1",
            "chunk = -1",
            "kind = 'rumour'",
            "source = ''",
            "tags = '7'",
            "metadata = '{'",
            "provenance = '{\"turn\": 7}'",
            "mentions = '[{\"name\": 1}]'",
        ];
        let Some(way) = ways.get(way) else { return false };
        let (owner, id) = (owner.key(), id.as_str().to_owned());
        let sql = format!("UPDATE memories SET {way} WHERE owner = ?1 AND id = ?2");
        self.write(move |c| c.execute(&sql, (owner, id))).await.unwrap() == 1
    }
}

#[tokio::test]
async fn unreadable_rows_are_counted_and_a_damaged_visibility_hides_nothing_of_others() {
    let metrics = Metrics::new();
    let unreadable = UnreadableRows::counted_in(metrics.clone());
    let (store, _folder) = fresh(SqliteOptions { unreadable, ..SqliteOptions::default() }).await;
    for name in ["bad", "good"] {
        let memory = Memory { visibility: Visibility::Public, ..note(name, "a cat") };
        store.store(memory, vec![], &write()).await.unwrap();
    }
    let damage = "UPDATE memories SET visibility = '{\"kind\"' WHERE id = 'bad'";
    store.write(move |c| c.execute(damage, [])).await.unwrap();
    let reader = Reader { owner: Owner::of_user("carol").unwrap(), roles: vec![], agent: None };
    let shared = SharedScope { reader, projects: Within::All, types: vec![] };
    let shared = Search { scopes: vec![], shared: Some(shared), ..search("cat") };
    for search in [shared, search("cat")] {
        let found = store.retrieve(&search).await.unwrap();
        assert_eq!(found.iter().map(|it| it.memory.id.as_str()).collect::<Vec<_>>(), ["good"]);
    }
    assert!(metrics.encode().contains("memgate_store_unreadable_rows_total 1\n"));
    store.close().await;
}

#[tokio::test]
async fn terms_of_another_tokeniser_version_are_recomputed() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    for memory in of_every_form() {
        store.store(memory, vec![], &write()).await.unwrap();
    }
    for words in ["cats", "dogs", "horses"] {
        let mut search = search(words);
        search.scopes[0].answers = true;
        let before = store.retrieve(&search).await.unwrap();
        assert!(before[0].lexical.unwrap().bm25 > 0.0, "{words}");
        let other = rusqlite::Connection::open(store.database.file()).unwrap();
        other.execute("UPDATE memories SET terms = X'00'", []).unwrap();
        assert_eq!(store.retrieve(&search).await.unwrap(), before, "{words}");
    }
    store.close().await;
}

/// A statement, a turn whose reply alone has a word, and a long answer.
fn of_every_form() -> [Memory; 3] {
    let reply = |name: &str, reply: &str| note(name, "").of_turn("Yes?", Some(reply.to_owned()));
    let mut answer = reply("answer", "The horse runs.\n\nThe dog sleeps.");
    answer.memory_type = MemoryType::new(MemoryType::ANSWER);
    [note("m", "cat"), reply("turn", "A dog barks."), answer]
}
