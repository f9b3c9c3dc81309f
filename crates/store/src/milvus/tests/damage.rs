//! Records that cannot be read.

use async_trait::async_trait;
use milvus::v2::types::FieldData;

use crate::{
    conformance::Damage,
    milvus::{
        rows::{Kind, RecordRows, Stored},
        tests::*,
    },
};

#[async_trait]
impl Damage for MilvusStore {
    async fn damage(&self, owner: &Owner, id: &MemoryId, way: usize) -> bool {
        // Of a record that ends too early, a piece may still come.
        let Some(record) = ["{\"id\": 7}", "?", "[]"].get(way) else { return false };
        let session = self.link.session().unwrap();
        let strong = ConsistencyLevel::Strong;
        let Known { stored, keys, .. } =
            self.known(&session, owner, id, strong).await.unwrap().unwrap();
        let mut rows = RecordRows::default();
        rows.push(Kind::Current, &Stored { revision: stored.revision + 1, ..stored }).unwrap();
        let mut columns = rows.columns();
        for column in &mut columns {
            if let FieldData::VarChar { name, values } = column
                && name == "record"
            {
                *values = vec![(*record).to_owned()];
            }
        }
        let records = session.names.records();
        session.server.insert(records, columns).await.unwrap();
        session.server.delete_keys(records, &keys).await.unwrap();
        // Nothing is read from what this process remembers of its writes.
        self.overlay.clear();
        session.server.read_strongly_for(Duration::from_secs(600));
        true
    }
}
