//! `memgate import`: imports a file written by `memgate export`.

use std::{path::PathBuf, process::ExitCode};

use tokio::io::{AsyncBufRead, BufReader};

use crate::{
    api::{ImportOptions, ImportRequest, ImportedView, ProblemView, Whose, WithLines, table},
    cli::{
        answer,
        backend::Backend,
        failure::Failure,
        options::Common,
        output::print::{print, tell},
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

/// Arguments of `memgate import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    /// File to import; - is standard input.
    file: PathBuf,
    /// Import only this user's memories and refuse others [default: those of all users, for
    /// operators].
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Tenant of the user [default: default].
    #[arg(long, value_name = "ID", requires = "user")]
    tenant: Option<String>,
    /// Stores a memory that gives orders to the model as a quotation instead of refusing its line.
    #[arg(long)]
    admit_quoted: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let json = self.common.json;
        let Self { common, file, user, tenant, admit_quoted } = self;
        let options = ImportOptions { admit_quoted };
        let whose = user.map(|user_id| Whose { user_id, tenant_id: tenant });
        let import = async |memories: &Backend| {
            let from: Box<dyn AsyncBufRead + Unpin> = if file.as_os_str() == "-" {
                Box::new(BufReader::new(tokio::io::stdin()))
            } else {
                let opened = tokio::fs::File::open(&file).await;
                Box::new(BufReader::new(opened.map_err(|error| unreadable(&error))?))
            };
            Import { memories, whose: whose.as_ref(), options, told: ImportedView::default() }
                .all(from)
                .await
        };
        let done = answer::ask(common, Need::Stored, import).and_then(|view| {
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
                for ProblemView { line, field, cause } in view.problems {
                    let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
                    tell(&format!("line {line}: {field}{cause}"));
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
    whose: Option<&'a Whose>,
    options: ImportOptions,
    told: ImportedView,
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
                header = begins(number, line)?;
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
            }
        }
        if header.is_empty() {
            return Err(Failure::new("no_export", "the file is empty"));
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
fn begins(number: u64, mut line: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let cause = match Line::read(&line) {
        Ok(Line::Header(_)) => {
            line.push(b'\n');
            return Ok(line);
        }
        Ok(_) => "must be the header of an export".to_owned(),
        Err(error) => match &error.field {
            Some(field) => format!("{field}: {error}"),
            None => error.to_string(),
        },
    };
    Err(Failure::new("no_export", format!("line {number}: {cause}")))
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
