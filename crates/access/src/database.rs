//! The file that holds keys and audit log.

use std::{path::Path, sync::Arc};

use memgate_core::clock::Clock;
use memgate_sqlite::{Database, DatabaseError, Options};
use tokio::runtime::Handle;

use crate::{
    audit::{self, Audit, Retention},
    keys::{self, Keys},
    schema::MIGRATIONS,
};

/// Keys and audit log. Cloning it is cheap.
#[derive(Clone)]
pub struct Access {
    /// The keys.
    pub keys: Keys,
    /// The audit log.
    pub audit: Audit,
    database: Arc<Database>,
}

impl Access {
    /// Opens or creates the file. Blocks; call it within a tokio runtime on a thread that may block.
    /// `clock` tells the time of entries and whether keys have expired.
    ///
    /// # Errors
    /// [`DatabaseError`] when the file cannot be opened or read.
    #[expect(clippy::disallowed_methods, reason = "start-up runs this on a thread that may block")]
    pub fn open(
        file: &Path,
        options: Options,
        retention: Retention,
        clock: Clock,
    ) -> Result<Self, DatabaseError> {
        let database =
            Arc::new(Database::open(file, MIGRATIONS, Options { readers: 1, ..options })?);
        let load = database.read(|c| Ok((keys::all(c)?, audit::salt(c)?)));
        let (known, salt) = Handle::current().block_on(load)?;
        let audit = Audit::new(database.clone(), retention, salt, clock);
        Ok(Self { keys: Keys::new(database.clone(), audit.clone(), known), audit, database })
    }

    /// Writes what waits and closes the file.
    pub async fn close(&self) {
        self.database.close().await;
    }
}
