//! The file of a trail. A record is handed over without waiting; a task writes many at once, off the way of requests and jobs.

use std::{path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use memgate_core::{clock::Clock, memory::Owner};
use memgate_sqlite::{Database, DatabaseError, Options};
use tokio::sync::{mpsc, oneshot};

use crate::rows::{self, Entry, Stored};

/// Records that may wait to be written. One that finds the queue full is not kept in the file.
const QUEUE: usize = 1024;

/// Records of one transaction.
const BATCH: usize = 128;

/// Interval between two removals of expired records. An expired record is not shown before that either.
const EXPIRE_EVERY: Duration = Duration::from_secs(600);

/// How much the file keeps.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most records of each kind and owner; the oldest go.
    pub per_owner: usize,
    /// The age at which a record expires.
    pub age: Duration,
}

/// The file of a trail; clones share it. Its task ends and closes the file when the last clone is gone.
#[derive(Clone)]
pub struct TrailFile {
    queue: mpsc::Sender<Message>,
    database: Arc<Database>,
    bounds: Bounds,
    clock: Clock,
}

enum Message {
    Keep(Entry),
    /// Answered when all before it are written.
    Barrier(oneshot::Sender<()>),
}

impl TrailFile {
    /// Opens or creates a file. Blocks. Returns it with the task that writes it; spawn the task where it is owned.
    ///
    /// # Errors
    /// [`DatabaseError`] when the file cannot be opened.
    pub fn open(
        file: &Path,
        bounds: Bounds,
        clock: Clock,
    ) -> Result<(Self, impl Future<Output = ()> + Send + use<>), DatabaseError> {
        let options = Options { readers: 1, ..Options::default() };
        let database = Arc::new(Database::open(file, rows::MIGRATIONS, options)?);
        let (queue, waiting) = mpsc::channel(QUEUE);
        let writing = write(database.clone(), waiting, bounds, clock.clone());
        Ok((Self { queue, database, bounds, clock }, writing))
    }

    /// Removes a file, if it is there. Blocks.
    ///
    /// # Errors
    /// [`DatabaseError`] when it cannot be removed.
    pub fn remove(file: &Path) -> Result<(), DatabaseError> {
        for part in ["", "-wal", "-shm"] {
            let mut name = file.as_os_str().to_owned();
            name.push(part);
            match std::fs::remove_file(&name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let (file, cause) = (name.into(), error.to_string());
                    return Err(DatabaseError::Unopenable { file, cause });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps a record, together with what is known of the same request or turn. It does not wait.
    pub fn keep<T: Stored>(&self, record: &T) {
        let kept = Entry::of(record)
            .is_some_and(|entry| self.queue.try_send(Message::Keep(entry)).is_ok());
        if !kept {
            tracing::debug!("the file of the trail is behind, a record is not in it");
        }
    }

    /// The newest record of an id, of the owners within reach.
    ///
    /// # Errors
    /// [`DatabaseError`] when the file cannot be read.
    pub async fn find<T: Stored>(
        &self,
        id: &str,
        reaches: impl Fn(&Owner) -> bool,
    ) -> Result<Option<T>, DatabaseError> {
        let (id, since) = (id.to_owned(), self.since());
        self.barrier().await;
        let found = self.database.read(move |c| rows::of_id::<T>(c, &id, since)).await?;
        Ok(found.into_iter().find(|record| reaches(record.owner())))
    }

    /// The newest records of an owner.
    ///
    /// # Errors
    /// [`DatabaseError`] when the file cannot be read.
    pub async fn newest<T: Stored>(
        &self,
        owner: &Owner,
        most: usize,
    ) -> Result<Vec<T>, DatabaseError> {
        let (owner, since) = (owner.clone(), self.since());
        self.barrier().await;
        self.database.read(move |c| rows::of_owner(c, &owner, most, since)).await
    }

    /// Drops the words in an owner's records, who forgets something; nothing of them stays on the disk.
    ///
    /// # Errors
    /// [`DatabaseError`] when the file cannot be written.
    pub async fn drop_words(&self, owner: &Owner) -> Result<(), DatabaseError> {
        let owner = owner.clone();
        self.barrier().await;
        self.database.erase(move |c| rows::drop_words(c, &owner)).await
    }

    /// Erases an owner's records; nothing of them stays on the disk.
    ///
    /// # Errors
    /// [`DatabaseError`] when the file cannot be written.
    pub async fn erase(&self, owner: &Owner) -> Result<(), DatabaseError> {
        let owner = owner.clone();
        self.barrier().await;
        self.database.erase(move |c| rows::erase(c, &owner)).await
    }

    /// Waits until what was handed over is written.
    async fn barrier(&self) {
        let (sender, answered) = oneshot::channel();
        if self.queue.send(Message::Barrier(sender)).await.is_ok() {
            let _ = answered.await;
        }
    }

    /// The time from which on records are kept.
    fn since(&self) -> Timestamp {
        since(&self.clock, self.bounds)
    }
}

fn since(clock: &Clock, bounds: Bounds) -> Timestamp {
    clock.now().checked_sub(bounds.age).unwrap_or(Timestamp::MIN)
}

/// Removes the records from before a time; nothing of them stays on the disk.
async fn expire(database: &Database, since: Timestamp) -> Result<(), DatabaseError> {
    database.erase(move |c| rows::expire(c, since)).await
}

/// Writes what is handed over, until nobody can hand over more.
async fn write(
    database: Arc<Database>,
    mut waiting: mpsc::Receiver<Message>,
    bounds: Bounds,
    clock: Clock,
) {
    let mut expiry = tokio::time::interval(EXPIRE_EVERY);
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            taken = waiting.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    break;
                }
                let (mut entries, mut barriers) = (Vec::new(), Vec::new());
                for message in batch.drain(..) {
                    match message {
                        Message::Keep(entry) => entries.push(entry),
                        Message::Barrier(answer) => barriers.push(answer),
                    }
                }
                let keep = move |c: &mut rusqlite::Connection| {
                    entries.iter().try_for_each(|entry| rows::keep(c, entry, bounds.per_owner))
                };
                if let Err(error) = database.write(keep).await {
                    tracing::warn!(%error, "the trail cannot be written, records are not in its file");
                }
                for answer in barriers {
                    let _ = answer.send(());
                }
            }
            _ = expiry.tick() => {
                if let Err(error) = expire(&database, since(&clock, bounds)).await {
                    tracing::warn!(%error, "expired records of the trail cannot be removed");
                }
            }
        }
    }
    database.close().await;
}

#[cfg(test)]
mod tests {
    use memgate_core::clock::SettableTime;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::Record;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Note {
        owner: Owner,
        id: String,
        at: Timestamp,
        said: Vec<String>,
        query: Option<String>,
    }

    impl Record for Note {
        fn owner(&self) -> &Owner {
            &self.owner
        }

        fn ids(&self) -> [Option<&str>; 2] {
            [Some(&self.id), None]
        }

        fn weight(&self) -> usize {
            1
        }
    }

    impl Stored for Note {
        const KIND: &'static str = "note";

        fn at(&self) -> Timestamp {
            self.at
        }

        fn join(self, mut newer: Self) -> Self {
            newer.said.splice(0..0, self.said);
            newer
        }
    }

    const DAY: Duration = Duration::from_secs(24 * 3600);

    struct House {
        file: TrailFile,
        task: tokio::task::JoinHandle<()>,
        time: SettableTime,
        clock: Clock,
        folder: tempfile::TempDir,
    }

    fn owner(user: &str) -> Owner {
        Owner::of_user(user).unwrap()
    }

    impl House {
        fn new(per_owner: usize) -> Self {
            Self::in_folder(tempfile::tempdir().unwrap(), per_owner)
        }

        fn in_folder(folder: tempfile::TempDir, per_owner: usize) -> Self {
            let (time, clock) = Clock::settable(Timestamp::UNIX_EPOCH);
            let bounds = Bounds { per_owner, age: DAY };
            let path = folder.path().join("trail.db");
            let (file, task) = TrailFile::open(&path, bounds, clock.clone()).unwrap();
            Self { file, task: tokio::spawn(task), time, clock, folder }
        }

        async fn closed(self) -> tempfile::TempDir {
            drop(self.file);
            self.task.await.unwrap();
            self.folder
        }

        fn note(&self, user: &str, id: &str, said: &str) {
            let (owner, query) = (owner(user), Some(format!("words of {user}")));
            let (id, said) = (id.to_owned(), vec![said.to_owned()]);
            self.file.keep(&Note { owner, id, at: self.clock.now(), said, query });
        }

        async fn ids(&self, user: &str) -> Vec<String> {
            let found = self.file.newest::<Note>(&owner(user), 9).await.unwrap();
            found.into_iter().map(|note| note.id).collect()
        }

        /// Whether some bytes are in one of the folder's files.
        fn has_on_disk(&self, text: &str) -> bool {
            let files = std::fs::read_dir(self.folder.path()).unwrap();
            files
                .map(|file| std::fs::read(file.unwrap().path()).unwrap())
                .any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        }
    }

    #[tokio::test]
    async fn each_owner_keeps_the_latest_records_also_over_a_restart() {
        let house = House::new(2);
        for id in ["a", "b", "c"] {
            house.note("ann", id, "");
        }
        house.note("bob", "d", "");
        assert_eq!(house.ids("ann").await, ["c", "b"]);
        let house = House::in_folder(house.closed().await, 2);
        assert_eq!(
            (house.ids("ann").await, house.ids("bob").await),
            (vec!["c".to_owned(), "b".to_owned()], vec!["d".to_owned()],)
        );
    }

    #[tokio::test]
    async fn what_is_noted_later_is_added_to_the_record_of_the_same_id_and_owner() {
        let house = House::new(9);
        house.note("ann", "a", "first");
        house.note("bob", "a", "another's");
        let house = House::in_folder(house.closed().await, 9);
        house.note("ann", "a", "second");
        let of = async |user: &str| {
            let reaches = |of: &Owner| *of == owner(user);
            house.file.find::<Note>("a", reaches).await.unwrap().map(|note| note.said)
        };
        assert_eq!(of("ann").await, Some(vec!["first".to_owned(), "second".to_owned()]));
        assert_eq!(of("bob").await, Some(vec!["another's".to_owned()]));
        assert_eq!(of("cleo").await, None);
    }

    #[tokio::test]
    async fn words_go_with_what_an_owner_forgets_and_records_with_the_owner() {
        let house = House::new(9);
        house.note("ann", "a", "");
        house.note("bob", "b", "");
        house.file.drop_words(&owner("ann")).await.unwrap();
        assert_eq!(house.ids("ann").await, ["a"]);
        assert!(!house.has_on_disk("words of ann") && house.has_on_disk("words of bob"));
        house.file.erase(&owner("bob")).await.unwrap();
        assert_eq!(house.ids("bob").await, Vec::<String>::new());
        assert!(!house.has_on_disk("bob"));
    }

    #[tokio::test]
    async fn a_record_expires() {
        let house = House::new(9);
        house.note("ann", "a", "");
        assert_eq!(house.ids("ann").await, ["a"]);
        house.time.set(Timestamp::UNIX_EPOCH + DAY + Duration::from_millis(1));
        house.note("ann", "b", "");
        assert_eq!(house.ids("ann").await, ["b"]);
        expire(&house.file.database, Timestamp::MAX).await.unwrap();
        assert!(!house.has_on_disk("words of ann"));
    }
}
