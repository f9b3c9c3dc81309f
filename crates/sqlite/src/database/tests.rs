use std::sync::mpsc;

use crate::database::*;

const SCHEMA: [Migration; 1] = [Migration {
    name: "notes",
    sql: "CREATE TABLE notes(n INTEGER PRIMARY KEY, text TEXT NOT NULL);",
}];

fn open(folder: &Path, options: Options) -> Database {
    Database::open(&folder.join("x.db"), &SCHEMA, options).unwrap()
}

fn insert(connection: &Connection, n: i64, text: &str) -> rusqlite::Result<usize> {
    connection.prepare_cached("INSERT INTO notes VALUES (?1, ?2)")?.execute((n, text))
}

fn count(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))
}

/// Blocks the writer inside a job until the returned sender is dropped, so that later writes form
/// one group.
fn hold(database: &Database) -> (mpsc::SyncSender<()>, Answer<()>) {
    let (release, held) = mpsc::sync_channel(1);
    let (started, running) = mpsc::sync_channel(1);
    let answer = database
        .queue_write(false, move |_| {
            let _ = started.send(());
            let _ = held.recv();
            Ok(())
        })
        .unwrap();
    running.recv().unwrap();
    (release, answer)
}

#[tokio::test]
async fn a_failing_job_does_not_undo_others_of_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    let (release, _held) = hold(&database);
    let first = database.queue_write(false, |c| insert(c, 1, "one")).unwrap();
    let failing = database
        .queue_write(false, |c| {
            insert(c, 2, "half")?;
            insert(c, 1, "again")
        })
        .unwrap();
    let panicking = database
        .queue_write(false, |c| -> rusqlite::Result<()> {
            insert(c, 3, "half")?;
            panic!("as meant by the test")
        })
        .unwrap();
    let last = database.queue_write(false, |c| insert(c, 4, "four")).unwrap();
    drop(release);
    assert_eq!(first.await.unwrap().unwrap(), 1);
    assert!(failing.await.unwrap().unwrap_err().is_constraint());
    assert!(matches!(panicking.await.unwrap(), Err(DatabaseError::Panicked { .. })));
    assert_eq!(last.await.unwrap().unwrap(), 1);
    let stored = database
        .read(|c| {
            c.prepare("SELECT n FROM notes ORDER BY n")?.query_map([], |r| r.get(0))?.collect()
        })
        .await;
    let stored: Vec<i64> = stored.unwrap();
    assert_eq!(stored, [1, 4]);
    database.close().await;
}

#[tokio::test]
async fn a_full_disk_is_reported_and_leaves_no_partial_write() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    database.write(|c| insert(c, 1, "before")).await.unwrap();
    database
        .write(|c| {
            let pages: i64 = c.pragma_query_value(None, "page_count", |r| r.get(0))?;
            c.pragma_update(None, "max_page_count", pages + 1)
        })
        .await
        .unwrap();
    let (release, _held) = hold(&database);
    let small = database.queue_write(false, |c| insert(c, 2, "small")).unwrap();
    let large = database.queue_write(false, |c| insert(c, 3, &"x".repeat(100_000))).unwrap();
    let after = database.queue_write(false, |c| insert(c, 4, "after")).unwrap();
    drop(release);
    let small = small.await.unwrap();
    let error = large.await.unwrap().unwrap_err();
    assert!(matches!(error, DatabaseError::Full { .. }), "{error}");
    assert!(error.to_string().contains("x.db: no space left"), "{error}");
    assert_eq!(after.await.unwrap().unwrap(), 1);
    // Whether the small job fails with the large one is up to SQLite; the answer must be correct.
    let stored = database.read(|c| count(c)).await.unwrap();
    assert_eq!(stored, if small.is_ok() { 3 } else { 2 });
    database.close().await;
}

#[tokio::test]
async fn a_full_queue_answers_busy_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options { queue: 2, ..Options::default() });
    let (release, _held) = hold(&database);
    let waiting: Vec<_> =
        (0..2).map(|n| database.queue_write(false, move |c| insert(c, n, "x")).unwrap()).collect();
    let error = database.write(|c| insert(c, 9, "x")).await.unwrap_err();
    assert!(matches!(error, DatabaseError::Busy { kind: "writes", bound: 2, .. }), "{error}");
    assert!(error.is_passing());
    drop(release);
    for answer in waiting {
        answer.await.unwrap().unwrap();
    }
    database.write(|c| insert(c, 9, "x")).await.unwrap();
    database.close().await;
}

#[tokio::test]
async fn a_write_of_a_caller_that_went_away_is_still_done() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    let (release, _held) = hold(&database);
    drop(database.queue_write(false, |c| insert(c, 1, "x")).unwrap());
    drop(release);
    // Jobs are answered in order, so the earlier one is done.
    assert_eq!(database.write(|c| count(c)).await.unwrap(), 1);
    database.close().await;
}

#[tokio::test]
async fn a_read_sees_a_snapshot_with_every_answered_write() {
    let folder = tempfile::tempdir().unwrap();
    let database = Arc::new(open(folder.path(), Options::default()));
    for n in 0..50 {
        database.write(move |c| insert(c, n, "x")).await.unwrap();
        assert_eq!(database.read(|c| count(c)).await.unwrap(), n + 1);
    }
    let (go_on, wait) = mpsc::sync_channel::<()>(1);
    let (begun, running) = mpsc::sync_channel(1);
    let reading = tokio::spawn({
        let database = database.clone();
        async move {
            let job = move |c: &mut Connection| {
                let before = count(c)?;
                let _ = begun.send(());
                let _ = wait.recv();
                Ok((before, count(c)?))
            };
            database.read(job).await
        }
    });
    tokio::task::spawn_blocking(move || running.recv()).await.unwrap().unwrap();
    database.write(|c| insert(c, 99, "x")).await.unwrap();
    drop(go_on);
    assert_eq!(reading.await.unwrap().unwrap(), (50, 50));
    database.close().await;
}

#[tokio::test]
async fn readers_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    let error = database.read(|c| insert(c, 1, "x")).await.unwrap_err();
    assert!(matches!(error, DatabaseError::ReadOnly { .. }), "{error}");
    database.close().await;
}

#[tokio::test]
async fn closing_finishes_waiting_jobs_and_refuses_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    let waiting: Vec<_> = (0..100)
        .map(|n| database.queue_write(false, move |c| insert(c, n, "x")).unwrap())
        .collect();
    database.close().await;
    database.close().await;
    for answer in waiting {
        answer.await.unwrap().unwrap();
    }
    let error = database.write(|c| insert(c, 999, "x")).await.unwrap_err();
    assert!(matches!(error, DatabaseError::Closed { .. }), "{error}");
    let again = open(folder.path(), Options::default());
    assert_eq!(again.read(|c| count(c)).await.unwrap(), 100);
    again.close().await;
}

#[tokio::test]
async fn erased_bytes_are_in_no_file_when_answered() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    let secret = "the-cat-is-called-Schnurri";
    let holds_secret = || {
        std::fs::read_dir(folder.path()).unwrap().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
        })
    };
    database.write(move |c| insert(c, 1, secret)).await.unwrap();
    database.write(move |c| insert(c, 2, &secret.repeat(1000))).await.unwrap();
    assert!(holds_secret());
    database.erase(|c| c.execute("DELETE FROM notes", [])).await.unwrap();
    assert!(!holds_secret());
    database.close().await;
}

#[test]
fn unusable_files_are_reported_with_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    std::fs::write(&path, "Dear database, this is not for you. ".repeat(100)).unwrap();
    let refuse =
        |path: &Path| Database::open(path, &SCHEMA, Options::default()).err().unwrap().to_string();
    let error = refuse(&path);
    assert!(error.contains("letter.txt: is not an SQLite database"), "{error}");
    let error = refuse(&path.join("x.db"));
    assert!(error.contains("x.db: cannot be opened"), "{error}");
    let error = refuse(folder.path());
    assert!(error.contains("cannot be opened"), "{error}");
    // Not writable by anyone, including root.
    let error = Database::open(Path::new("/proc/memgate/x.db"), &SCHEMA, Options::default());
    let error = error.err().unwrap();
    assert!(error.to_string().starts_with("x.db: cannot be opened"), "{error}");
    assert_eq!(error.folder(), Path::new("/proc/memgate"), "in a sentence for callers of the API");
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    database.write(|c| insert(c, 1, "x")).await.unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", file.path());
    }
    database.close().await;
}

/// The rows of a crowd: more than a megabyte, on hundreds of pages.
const ROWS: i64 = 1_500;

/// Rows of many sizes, so that pages fill up and split, and rows move.
async fn crowd(database: &Database) {
    database
        .write(|c| {
            c.execute_batch(
                "CREATE TABLE t(id TEXT PRIMARY KEY, who TEXT, text TEXT) WITHOUT ROWID",
            )?;
            let mut seed = 7_u64;
            let mut random = |below: u64| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % below
            };
            for n in 0..ROWS {
                let who = format!("secret-{}", random(8));
                let text = "x".repeat(usize::try_from(random(1_500)).unwrap());
                let id = format!("{:016x}{n}", random(1 << 31));
                c.prepare_cached("INSERT INTO t VALUES (?1, ?2, ?2 || ?3)")?
                    .execute((&id, &who, &text))?;
                insert(c, n, &format!("{who} {text}"))?;
                let longer = "y".repeat(usize::try_from(random(900)).unwrap());
                c.prepare_cached("UPDATE notes SET text = text || ?2 WHERE n = ?1")?
                    .execute((i64::try_from(random(ROWS.unsigned_abs())).unwrap(), longer))?;
            }
            Ok(())
        })
        .await
        .unwrap();
}

fn times(folder: &Path, needle: &str) -> usize {
    let files = std::fs::read_dir(folder).unwrap();
    let bytes = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap());
    let bytes: Vec<u8> = bytes.collect();
    bytes.windows(needle.len()).filter(|window| *window == needle.as_bytes()).count()
}

#[tokio::test]
async fn erased_bytes_are_gone_even_if_rows_have_moved() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), Options::default());
    crowd(&database).await;
    let erase = |c: &mut Connection| {
        c.execute("DELETE FROM t WHERE who = 'secret-3'", [])?;
        c.execute("DELETE FROM notes WHERE text LIKE 'secret-3%'", [])
    };
    assert!(database.erase(erase).await.unwrap() > 0);
    assert_eq!(times(folder.path(), "secret-3"), 0);
    // Nothing else was changed, and later writes bring nothing back.
    let sound = |c: &mut Connection| {
        c.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
    };
    assert_eq!(database.read(sound).await.unwrap(), "ok");
    database.write(|c| c.execute("UPDATE notes SET text = text || 'z'", [])).await.unwrap();
    database.erase(|_| Ok(())).await.unwrap();
    assert_eq!(times(folder.path(), "secret-3"), 0);
    assert!(times(folder.path(), "secret-4") > 0);
    assert_eq!(database.read(sound).await.unwrap(), "ok");
}
