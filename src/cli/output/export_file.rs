//! The output of an export. A file gets its final name when it is complete; until then its name
//! ends in `.part` and it can be resumed.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use tokio::io::BufReader;

use crate::cli::failure::Failure;
use memgate_core::memory::Owner;
use memgate_store::transfer::{Line, Lines, Raw};

/// The lines of an export, response by response.
pub(crate) struct Sink {
    to: To,
    /// Number of memories written.
    count: u64,
    state: State,
}

enum To {
    Stdout,
    File { file: File, part: PathBuf, name: PathBuf },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    GoesOn,
    Complete,
    /// The reader closed it.
    Unread,
}

/// The complete part of an interrupted export.
#[derive(Default)]
struct Begun {
    /// Number of bytes up to the last mark.
    bytes: u64,
    /// Number of memories in them.
    count: u64,
    after: Option<String>,
    complete: bool,
}

impl Sink {
    /// Opens the output and returns the last mark of an export to resume.
    ///
    /// # Errors
    /// When the file cannot be written, or belongs to another export.
    pub(crate) async fn open(
        out: Option<PathBuf>,
        resume: bool,
        owner: Option<&Owner>,
        vectors: bool,
    ) -> Result<(Self, Option<String>), Failure> {
        let Some(name) = out else {
            return Ok((Self { to: To::Stdout, count: 0, state: State::GoesOn }, None));
        };
        let part = part_of(&name);
        let begun = if resume { begun(&part, owner, vectors).await? } else { Begun::default() };
        let Begun { bytes, count, after, complete } = begun;
        // Readable by the exporting user only, because it contains what users said.
        let options =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&part);
        let ready = options.and_then(|mut file| {
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            if bytes > 0 {
                // The mark's line may lack its line break; an empty line is ignored.
                file.write_all(b"\n")?;
            }
            Ok(file)
        });
        let file = ready.map_err(|error| unusable(&part, &error))?;
        let state = if complete { State::Complete } else { State::GoesOn };
        Ok((Self { to: To::File { file, part, name }, count, state }, after))
    }

    /// Whether everything is written.
    pub(crate) fn is_complete(&self) -> bool {
        self.state != State::GoesOn
    }

    /// The number of memories written so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Writes a response and returns the mark to continue after.
    ///
    /// # Errors
    /// When it cannot be written, or is not an export.
    pub(crate) fn write(&mut self, lines: &[u8]) -> Result<Option<String>, Failure> {
        match &mut self.to {
            To::Stdout => match io::stdout().lock().write_all(lines) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.state = State::Unread,
                written => {
                    written.map_err(|error| unusable(Path::new("standard output"), &error))?
                }
            },
            To::File { file, part, .. } => {
                file.write_all(lines).map_err(|error| unusable(part, &error))?;
            }
        }
        self.count +=
            lines.split(|&byte| byte == b'\n').filter(|line| is_memory(line)).count() as u64;
        let last = lines.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        match Line::read(last) {
            Ok(Line::Mark(mark)) => Ok(Some(mark)),
            Ok(Line::End) => {
                self.state = State::Complete;
                Ok(None)
            }
            _ => Err(Failure::new("not_memgate", "the answer ends without a mark")),
        }
    }

    /// Gives the file its final name; returns the number of memories, unless the reader closed it.
    ///
    /// # Errors
    /// When it cannot be written to the disk or renamed.
    pub(crate) fn finish(self) -> Result<Option<u64>, Failure> {
        match self.to {
            To::Stdout => io::stdout().flush().or_else(|error| match error.kind() {
                ErrorKind::BrokenPipe => Ok(()),
                _ => Err(unusable(Path::new("standard output"), &error)),
            })?,
            To::File { file, part, name } => {
                let named = file.sync_all().and_then(|()| fs::rename(&part, &name));
                named.map_err(|error| unusable(&name, &error))?;
            }
        }
        Ok((self.state == State::Complete).then_some(self.count))
    }
}

/// Reads the part of an export that can be resumed: up to the last mark.
async fn begun(part: &Path, owner: Option<&Owner>, vectors: bool) -> Result<Begun, Failure> {
    let file = match tokio::fs::File::open(part).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Begun::default()),
        opened => opened.map_err(|error| unusable(part, &error))?,
    };
    let mut lines = Lines::new(BufReader::new(file));
    let (mut begun, mut count) = (Begun::default(), 0);
    loop {
        let next = lines.next().await.map_err(|error| unusable(part, &error))?;
        let Some((_, Raw::Line(line))) = next else { return Ok(begun) };
        if is_memory(&line) {
            count += 1;
            continue;
        }
        // The last line may be incomplete; everything after the last mark is written again.
        let Ok(line) = Line::read(&line) else { return Ok(begun) };
        match line {
            Line::Header(header) if header.owner.as_ref() != owner || header.vectors != vectors => {
                let message = format!("{}: belongs to a different export", part.display());
                return Err(Failure::new("other_export", message));
            }
            Line::Mark(mark) => {
                begun = Begun { bytes: lines.bytes(), count, after: Some(mark), complete: false }
            }
            Line::End => begun = Begun { bytes: lines.bytes(), count, after: None, complete: true },
            _ => {}
        }
    }
}

/// Whether a line is a memory, without parsing it.
fn is_memory(line: &[u8]) -> bool {
    line.starts_with(b"{\"memory\":")
}

fn part_of(name: &Path) -> PathBuf {
    let mut part = name.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::new("output", format!("{}: {error}", path.display()))
}
