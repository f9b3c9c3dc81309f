//! Keys and audit log together, on a real file.

use std::{fs, path::Path, time::Duration};

use jiff::Timestamp;
use memgate_core::{clock::Clock, memory::Owner};
use memgate_sqlite::Options;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::*;

const RETENTION: Retention = Retention { age: Duration::from_secs(24 * 3600), entries: 5 };

async fn open_at(folder: &Path, clock: Clock) -> Access {
    let file = folder.join("access.db");
    let open = move || Access::open(&file, Options::default(), RETENTION, clock);
    spawn_blocking(open).await.unwrap().unwrap()
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

async fn open() -> (TempDir, Access) {
    let folder = tempfile::tempdir().unwrap();
    let access = open_at(folder.path(), Clock::System).await;
    (folder, access)
}

fn new(name: &str, expires_at: Option<Timestamp>) -> NewKey {
    let bound = Bound::One(Owner::new("acme", "alice").unwrap());
    NewKey::new(name.into(), Scopes::new([Scope::Read, Scope::Write]), bound, expires_at).unwrap()
}

async fn create(access: &Access, new: NewKey) -> Result<(KeyRecord, Secret), KeyError> {
    access.keys.create(new, Actor::CommandLine, Some("req-1".into())).await
}

async fn listed(access: &Access) -> Vec<AuditEntry> {
    access.audit.list(AuditQuery { limit: 100, ..AuditQuery::default() }).await.unwrap()
}

#[tokio::test]
async fn a_key_is_found_by_its_text_until_it_is_revoked_also_after_a_restart() {
    let (folder, access) = open().await;
    let (key, secret) = create(&access, new("app", None)).await.unwrap();
    assert_eq!(access.keys.find(secret.reveal()), Some(key.clone()));
    assert_eq!(access.keys.find("mgk_wrong"), None);
    access.close().await;
    let access = open_at(folder.path(), Clock::System).await;
    assert_eq!(access.keys.find(secret.reveal()).unwrap().id, key.id);
    let revoked = access.keys.revoke(key.id, Actor::ConfiguredKey, None).await.unwrap();
    assert_eq!(revoked.unwrap().id, key.id);
    assert_eq!(access.keys.find(secret.reveal()), None);
    assert!(access.keys.revoke(key.id, Actor::ConfiguredKey, None).await.unwrap().is_none());
    access.close().await;
    let access = open_at(folder.path(), Clock::System).await;
    assert_eq!((access.keys.find(secret.reveal()), access.keys.list()), (None, Vec::new()));
}

#[tokio::test]
async fn the_file_holds_no_key() {
    let (folder, access) = open().await;
    let (_, secret) = create(&access, new("app", None)).await.unwrap();
    access.close().await;
    let random = secret.reveal().strip_prefix("mgk_").unwrap().as_bytes();
    for file in fs::read_dir(folder.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(random.len()).any(|window| window == random));
    }
}

#[tokio::test]
async fn two_valid_keys_may_have_one_name() {
    let (_folder, access) = open().await;
    let (first, _) = create(&access, new("app", None)).await.unwrap();
    create(&access, new("app", None)).await.unwrap();
    let third = create(&access, new("app", None)).await;
    assert!(matches!(third, Err(KeyError::TooManyOfName)), "{third:?}");
    create(&access, new("other", None)).await.unwrap();
    access.keys.revoke(first.id, Actor::CommandLine, None).await.unwrap();
    let (third, _) = create(&access, new("app", None)).await.unwrap();
    assert_eq!(access.keys.list().iter().map(|key| key.id).collect::<Vec<_>>(), [2, 3, third.id]);
}

#[tokio::test]
async fn an_expired_key_is_not_found_and_makes_room_for_another() {
    let (time, clock) = Clock::settable(second(1_000));
    let folder = tempfile::tempdir().unwrap();
    let access = open_at(folder.path(), clock).await;
    let end = Some(second(2_000));
    let (_, secret) = create(&access, new("app", end)).await.unwrap();
    create(&access, new("app", None)).await.unwrap();
    time.set(second(1_999));
    assert!(access.keys.find(secret.reveal()).is_some());
    time.set(second(2_000));
    assert!(access.keys.find(secret.reveal()).is_none());
    create(&access, new("app", None)).await.unwrap();
}

#[tokio::test]
async fn a_held_key_is_valid_until_it_is_revoked_or_expires() {
    let (time, clock) = Clock::settable(second(1_000));
    let folder = tempfile::tempdir().unwrap();
    let access = open_at(folder.path(), clock).await;
    let (expiring, _) = create(&access, new("app", Some(second(2_000)))).await.unwrap();
    let (lasting, _) = create(&access, new("app", None)).await.unwrap();
    let [expiring, held] = [expiring.id, lasting.id].map(|id| access.keys.held(id).unwrap());
    assert!(expiring.is_valid() && held.is_valid());
    time.set(second(2_000));
    assert!(!expiring.is_valid() && held.is_valid());
    access.keys.revoke(lasting.id, Actor::ConfiguredKey, None).await.unwrap();
    assert!(!held.is_valid());
    assert!(access.keys.held(lasting.id).is_none());
}

#[tokio::test]
async fn creating_and_revoking_a_key_is_audited() {
    let (_folder, access) = open().await;
    let (key, secret) = create(&access, new("app", None)).await.unwrap();
    access.keys.revoke(key.id, Actor::Key(7), Some("req-2".into())).await.unwrap();
    let found = listed(&access).await;
    let told: Vec<_> = found
        .iter()
        .map(|entry| (&*entry.actor, &*entry.action, entry.request_id.as_deref().unwrap()))
        .collect();
    assert_eq!(told, [("key:7", "key.revoke", "req-2"), ("command_line", "key.create", "req-1")]);
    assert_eq!((found[0].tenant.as_deref(), found[0].user_ref.is_some()), (Some("acme"), true));
    assert_eq!(found[0].user_ref, found[1].user_ref);
    assert_eq!(found[0].target.as_deref(), Some("key:1 app read,write"));
    assert!(!format!("{found:?}").contains(secret.reveal()));
}

#[tokio::test]
async fn the_log_is_filtered_and_paged() {
    let (time, clock) = Clock::settable(second(1_000));
    let folder = tempfile::tempdir().unwrap();
    let access = open_at(folder.path(), clock).await;
    let record = async |user: &str, id: &str| {
        let subject = Subject::of(&Owner::of_user(user).unwrap()).target(id).count(2);
        access.audit.record(Actor::Loopback, Action::MemoryErase, subject, None).await;
    };
    record("alice", "a").await;
    record("bob", "b").await;
    time.set(second(2_000));
    let since = second(2_000);
    record("alice", "c").await;
    let targets = async |query: AuditQuery| {
        let found = access.audit.list(query).await.unwrap();
        found.into_iter().map(|entry| entry.target.unwrap()).collect::<Vec<_>>().join("")
    };
    let all = || AuditQuery { limit: 100, ..AuditQuery::default() };
    assert_eq!(targets(all()).await, "cba");
    assert_eq!(
        targets(AuditQuery { owner: Some(Owner::of_user("alice").unwrap()), ..all() }).await,
        "ca"
    );
    assert_eq!(targets(AuditQuery { tenant: Some("acme".into()), ..all() }).await, "");
    assert_eq!(targets(AuditQuery { limit: 2, ..all() }).await, "cb");
    assert_eq!(targets(AuditQuery { before: Some(2), ..all() }).await, "a");
    assert_eq!(targets(AuditQuery { since: Some(since), ..all() }).await, "c");
}

#[tokio::test]
async fn entries_are_kept_for_the_retention_and_no_longer() {
    let start = 1_000_000;
    let (time, clock) = Clock::settable(second(start));
    let folder = tempfile::tempdir().unwrap();
    let access = open_at(folder.path(), clock).await;
    let record = || access.audit.record(Actor::Job, Action::JobRetry, Subject::default(), None);
    record().await;
    let day = 24 * 3600;
    time.set(second(start + day));
    assert_eq!(listed(&access).await.len(), 1);
    time.set(second(start + day + 1));
    assert_eq!(listed(&access).await.len(), 0, "an old entry is not listed");
    for _ in 0..9 {
        record().await;
    }
    assert_eq!(listed(&access).await.first().unwrap().id, 10);
    time.set(second(start + day + 3602));
    record().await;
    let ids: Vec<_> = listed(&access).await.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [11, 10, 9, 8, 7], "at most as many as configured");
}

#[tokio::test]
async fn the_file_holds_no_user_id_of_an_entry() {
    let (folder, access) = open().await;
    let owner = Owner::of_user("alice-of-zanzibar").unwrap();
    access.audit.record(Actor::Job, Action::ScopeErase, Subject::of(&owner), None).await;
    let query = AuditQuery { owner: Some(owner), limit: 10, ..AuditQuery::default() };
    assert_eq!(access.audit.list(query).await.unwrap().len(), 1, "it is found by the id");
    access.close().await;
    let bytes = fs::read(folder.path().join("access.db")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("zanzibar"));
}

#[tokio::test]
async fn an_entry_cannot_be_changed() {
    let (folder, access) = open().await;
    create(&access, new("app", None)).await.unwrap();
    access.close().await;
    let file = rusqlite::Connection::open(folder.path().join("access.db")).unwrap();
    let changed = file.execute("UPDATE audit SET actor = 'nobody'", []);
    assert!(changed.unwrap_err().to_string().contains("append-only"));
}
