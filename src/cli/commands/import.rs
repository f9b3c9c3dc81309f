//! `memgate import`: imports a file written by `memgate export`.

use std::{path::PathBuf, process::ExitCode};

use tokio::io::{AsyncBufRead, BufReader};

use crate::{
    api::{ImportOptions, ImportRequest, ImportedView, ProblemView, Whose, WithLines, table},
    cli::{
        answer,
        backend::Backend,
        failure::Failure,
        options::{Common, WhoseIfGiven},
        output::{
            print::{print, tell},
            progress::Progress,
        },
    },
    startup::Need,
};
use memgate_store::transfer::{Line, Lines, MAX_LINE_BYTES, Raw};

/// Maximum number of lines per request: each response must arrive within the timeout.
const LINES: usize = 200;
/// Maximum bytes per request; a single line may be longer.
const BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of reported lines.
const MAX_PROBLEMS: usize = 100;

/// The member that is wrong in a line of another user than the named one.
const OWNER: &str = "memory.owner";

/// Arguments of `memgate import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// File to import; - is standard input.
    file: PathBuf,
    #[command(flatten)]
    whose: WhoseIfGiven,
    /// Stores a memory that gives orders to the model as a quotation instead of refusing its line.
    #[arg(long)]
    admit_quoted: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let json = self.common.json;
        let Self { common, file, whose, admit_quoted } = self;
        let options = ImportOptions { admit_quoted };
        let name = if file.as_os_str() == "-" {
            "standard input".into()
        } else {
            file.display().to_string()
        };
        let whose = whose.given();
        let import = async |memories: &Backend| {
            let (from, size): (Box<dyn AsyncBufRead + Unpin>, _) = if file.as_os_str() == "-" {
                (Box::new(BufReader::new(tokio::io::stdin())), None)
            } else {
                let opened = tokio::fs::File::open(&file).await;
                let opened = opened.map_err(|error| unreadable(&error))?;
                let size = opened.metadata().await.ok().map(|file| file.len());
                (Box::new(BufReader::new(opened)), size)
            };
            let progress = Progress::through_file(size);
            let told = ImportedView::default();
            let whose = whose.as_ref();
            Import { memories, name: &name, whose, options, told, progress }.all(from).await
        };
        let done = answer::ask(common, Need::Stored, false, import).and_then(|view| {
            if json {
                let mut body = serde_json::to_vec(&view)
                    .map_err(|error| Failure::new("output", error.to_string()))?;
                body.push(b'\n');
                print(&body)?;
            } else {
                print(told(&view).as_bytes())?;
            }
            Ok(view)
        });
        match done {
            Ok(view) => {
                let others = view.problems.iter().any(|it| it.field.as_deref() == Some(OWNER));
                worded(&name, view.problems).iter().for_each(|line| tell(line));
                if others {
                    tell(
                        "note: without --user the memories of all users are imported, each for its own user",
                    );
                }
                if !view.complete {
                    tell("error: the export is incomplete: its last line is missing");
                }
                if view.complete && view.refused == 0 {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                }
            }
            Err(failure) => answer::report(&failure, json),
        }
    }
}

struct Import<'a> {
    memories: &'a Backend,
    /// The file's name, for errors.
    name: &'a str,
    whose: Option<&'a Whose>,
    options: ImportOptions,
    told: ImportedView,
    progress: Progress,
}

/// Lines of one request.
struct Batch {
    lines: Vec<u8>,
    /// Their line numbers in the file.
    numbers: Vec<u64>,
}

impl Import<'_> {
    /// Sends the lines of a file in batches; each starts with the file's header.
    async fn all(mut self, from: Box<dyn AsyncBufRead + Unpin>) -> Result<ImportedView, Failure> {
        let mut lines = Lines::new(from);
        let mut batch: Option<Batch> = None;
        let mut header = Vec::new();
        while let Some((number, raw)) = lines.next().await.map_err(|error| unreadable(&error))? {
            let line = match raw {
                Raw::Line(line) => line,
                Raw::TooLong => {
                    let cause = format!("must have at most {MAX_LINE_BYTES} bytes");
                    self.told.refused += 1;
                    self.problem(ProblemView { line: number, field: None, cause });
                    continue;
                }
            };
            if header.is_empty() {
                header = begins(self.name, number, line)?;
                batch = Some(Batch { lines: header.clone(), numbers: vec![number] });
                continue;
            }
            let under_way =
                batch.get_or_insert_with(|| Batch { lines: header.clone(), numbers: vec![number] });
            under_way.lines.extend_from_slice(&line);
            under_way.lines.push(b'\n');
            under_way.numbers.push(number);
            if under_way.numbers.len() > LINES || under_way.lines.len() > BYTES {
                self.send(batch.take()).await?;
                self.progress.set(lines.bytes());
            }
        }
        if header.is_empty() {
            return Err(Failure::new("no_export", format!("{}: is empty", self.name)));
        }
        self.send(batch).await?;
        Ok(self.told)
    }

    async fn send(&mut self, batch: Option<Batch>) -> Result<(), Failure> {
        let Some(Batch { lines, numbers }) = batch else { return Ok(()) };
        let (from, to) = (numbers.get(1), numbers.last());
        let options = self.options;
        let imported = match self.whose.cloned() {
            Some(whose) => {
                let request = ImportRequest { whose, options };
                self.memories.ask::<table::Import>(WithLines::held(request, lines)).await
            }
            None => self.memories.ask::<table::ImportAll>(WithLines::held(options, lines)).await,
        };
        let answer = imported.inspect_err(|_| {
            if let (Some(from), Some(to)) = (from, to) {
                tell(&format!("lines {from} to {to} may be imported partially, the lines before are imported; run the command again to continue"));
            }
        })?;
        let ImportedView { written, same, differs, refused, complete, problems } = answer.view;
        self.told.written += written;
        self.told.same += same;
        self.told.differs += differs;
        self.told.refused += refused;
        self.told.complete = complete;
        for problem in problems {
            let place = usize::try_from(problem.line).ok().and_then(|line| line.checked_sub(1));
            let line = place.and_then(|place| numbers.get(place).copied()).unwrap_or(problem.line);
            self.problem(ProblemView { line, ..problem });
        }
        Ok(())
    }

    fn problem(&mut self, problem: ProblemView) {
        if self.told.problems.len() < MAX_PROBLEMS {
            self.told.problems.push(problem);
        }
    }
}

/// The header, with which every batch starts.
fn begins(name: &str, number: u64, mut line: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let cause = match Line::read(&line) {
        Ok(Line::Header(_)) => {
            line.push(b'\n');
            return Ok(line);
        }
        Ok(_) => "an export begins with its header".to_owned(),
        Err(error) => match &error.field {
            Some(field) => format!("{field}: {error}"),
            None => error.to_string(),
        },
    };
    let message =
        format!("{name}:{number}: is not the first line of a file of memgate export: {cause}");
    Err(Failure::new("no_export", message))
}

/// The problems as lines: one for each cause, however many lines of the file in a row have it.
fn worded(name: &str, problems: Vec<ProblemView>) -> Vec<String> {
    let mut runs: Vec<(u64, ProblemView)> = Vec::new();
    for problem in problems {
        match runs.last_mut() {
            Some((_, last)) if (&last.field, &last.cause) == (&problem.field, &problem.cause) => {
                last.line = problem.line;
            }
            _ => runs.push((problem.line, problem)),
        }
    }
    let word = |(first, ProblemView { line, field, cause }): (u64, ProblemView)| {
        let lines = if first == line { line.to_string() } else { format!("{first}-{line}") };
        let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
        format!("{name}:{lines}: {field}{cause}")
    };
    runs.into_iter().map(word).collect()
}

fn told(view: &ImportedView) -> String {
    let ImportedView { written, same, differs, refused, .. } = view;
    let memories = if *written == 1 { "memory" } else { "memories" };
    format!(
        "Imported {written} {memories}; {same} already exist, {differs} with the same id but other \
         content were kept, {refused} lines were refused.\n"
    )
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new("input", format!("the file cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_a_row_with_one_cause_are_one_line_with_the_files_name() {
        let problem = |line, field: Option<&str>, cause: &str| ProblemView {
            line,
            field: field.map(str::to_owned),
            cause: cause.to_owned(),
        };
        let problems = vec![
            problem(2, Some("owner"), "is another user"),
            problem(3, Some("owner"), "is another user"),
            problem(7, None, "is no JSON"),
        ];
        assert_eq!(
            worded("a.jsonl", problems),
            ["a.jsonl:2-3: owner: is another user", "a.jsonl:7: is no JSON"]
        );
    }
}
