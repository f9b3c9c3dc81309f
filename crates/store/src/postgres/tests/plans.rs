//! Query plans: an owner's rows come from one partition, by an index.

use tokio_postgres::types::Type;

use crate::postgres::{connection::transaction::Parameter, filter::Condition, tests::*};
use memgate_core::memory::Filter;

/// The plan of a statement for alice. Tables of a few rows would be read whole.
async fn plan(store: &PostgresStore, sql: &str, parameters: &[Parameter<'_>]) -> String {
    let transaction = store.begin(Mode::Read, "default/alice").await.unwrap();
    transaction.batch("SET LOCAL enable_seqscan = off").await.unwrap();
    let rows = transaction.query_once(&format!("EXPLAIN {sql}"), parameters).await.unwrap();
    transaction.end();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn statements_about_an_owner_use_an_index_of_one_partition() {
    let (store, _alone) = super::store(0).await;
    let scope = ScopeQuery::of(owner("alice"));
    let filter = Filter::And(vec![Filter::Tag("t".into()), Filter::Text("x".into())]);
    let filtered = Condition::scope(&scope, Timestamp::UNIX_EPOCH).in_use().filtered(Some(&filter));
    let sql = format!("SELECT number FROM memories WHERE {}", filtered.sql);
    let alice = "default/alice";
    let (id, number) = ("m", 1_i64);
    let by_owner: [(&str, Vec<Parameter<'_>>); 5] = [
        (&sql, filtered.parameters()),
        (
            "SELECT number FROM memories WHERE owner = $1 ORDER BY created_at DESC, id DESC",
            vec![(&alice, Type::TEXT)],
        ),
        (
            "SELECT number FROM memories WHERE owner = $1 AND id = $2",
            vec![(&alice, Type::TEXT), (&id, Type::TEXT)],
        ),
        ("SELECT part FROM vectors WHERE owner = $1 AND space = 1", vec![(&alice, Type::TEXT)]),
        (
            "SELECT id FROM versions WHERE owner = $1 AND memory = $2",
            vec![(&alice, Type::TEXT), (&number, Type::INT8)],
        ),
    ];
    for (sql, parameters) in by_owner {
        let plan = plan(&store, sql, &parameters).await;
        // The policy of what is shared asks the memories, but not in a transaction of an owner.
        let plan = plan.split("SubPlan").next().unwrap_or_default();
        let scans = plan.matches("Index").count() + plan.matches("Bitmap Heap").count();
        assert!(scans > 0 && !plan.contains("Append"), "{sql}\n{plan}");
        assert!(plan.contains("owner = 'default/alice'"), "the owner selects rows: {plan}");
    }
    store.close().await;
}
