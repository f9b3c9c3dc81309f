//! Rows that cannot be read, and words of another tokeniser.

use async_trait::async_trait;

use crate::{conformance::Damage, postgres::tests::*};

impl PostgresStore {
    /// Changes rows past the store.
    async fn change_raw(&self, sql: &str) {
        let transaction = self.begin(Mode::Write, EVERYBODY).await.unwrap();
        transaction.batch(sql).await.unwrap();
        transaction.commit().await.unwrap();
    }
}

#[async_trait]
impl Damage for PostgresStore {
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
            "content = E'\\001'",
        ];
        let Some(way) = ways.get(way) else { return false };
        let (owner, id) = (owner.key(), id.as_str());
        self.change_raw(&format!(
            "UPDATE memories SET {way} WHERE owner = '{owner}' AND id = '{id}'"
        ))
        .await;
        // Every change of memgate's own raises it.
        self.change_raw(&format!(
            "UPDATE owners SET generation = nextval('generations') WHERE owner = '{owner}'"
        ))
        .await;
        true
    }
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn terms_of_another_tokeniser_version_are_recomputed() {
    let (store, _alone) = super::store(0).await;
    let reply =
        |name: &str, reply: &str| note("alice", name, "").of_turn("Yes?", Some(reply.to_owned()));
    let mut answer = reply("answer", "The horse runs.\n\nThe dog sleeps.");
    answer.memory_type = MemoryType::new(MemoryType::ANSWER);
    for memory in [note("alice", "m", "cat"), reply("turn", "A dog barks."), answer] {
        store.store(memory, vec![], &write()).await.unwrap();
    }
    for words in ["cats", "dogs", "horses"] {
        let mut search = Search { text: Some(words.into()), ..near("alice") };
        search.scopes[0].answers = true;
        let before = store.retrieve(&search).await.unwrap();
        assert!(before[0].lexical.unwrap().bm25 > 0.0, "{words}");
        store.change_raw("UPDATE memories SET terms = '\\x00'").await;
        assert_eq!(store.retrieve(&search).await.unwrap(), before, "{words}");
    }
    store.close().await;
}
