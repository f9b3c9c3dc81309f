//! Golden files under `testdata/dialect/`: an input, and what is made of it. With the environment
//! variable `UPDATE_EXPECT=1` the expectations are written anew, to be read in the diff.
//!
//! A file is a head (`#` comments, `key: value` lines) and sections that start with `=== name`. The
//! section `body` is the input, verbatim without its last line break; all that follow are expected.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{
    Ask, Dialect, ReadError, Reply, ReplyCollector, invalid_request_body, read,
    seats::{Placed, Placement},
};

const CONTEXT: &str = "CONTEXT\n- \"one\"";

struct Case {
    head: String,
    body: String,
}

impl Case {
    fn field(&self, key: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    }

    fn dialect(&self) -> Dialect {
        match self.field("dialect") {
            Some("chat") => Dialect::Chat,
            Some("responses") => Dialect::Responses,
            other => panic!("a golden file's dialect: {other:?}"),
        }
    }
}

/// Checks every file of a folder against what `expected` makes of it now.
fn check(folder: &str, expected: fn(&Case) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/dialect").join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no golden files in {}", folder.display());
    let mut differing = Vec::new();
    for path in paths {
        let found = fs::read_to_string(&path).unwrap();
        let (head, rest) = found.split_once("=== body\n").unwrap();
        let body =
            rest.split_once("\n=== ").map_or(rest.strip_suffix('\n').unwrap(), |(body, _)| body);
        let case = Case { head: head.to_owned(), body: body.to_owned() };
        let now = format!("{head}=== body\n{body}\n{}", expected(&case));
        if now == found {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, now).unwrap();
        } else {
            differing.push(format!("--- {}: now\n{now}", path.display()));
        }
    }
    assert!(
        differing.is_empty(),
        "{}\n(UPDATE_EXPECT=1 accepts what is made now)",
        differing.join("\n")
    );
}

#[test]
fn requests_are_read_and_edited_as_the_golden_files_say() {
    check("requests", |case| {
        let body = case.body.as_bytes();
        let request = match read(case.dialect(), body) {
            Ok(request) => request,
            Err(ReadError::Unreadable(reason)) => return format!("=== unreadable\n{reason}\n"),
            Err(ReadError::Invalid(field)) => {
                let body = String::from_utf8(invalid_request_body(&field)).unwrap();
                return format!("=== invalid\n{body}\n");
            }
        };
        let mut sections = format!("=== ask\n{}", ask_lines(request.ask()));
        let places = [
            ("no context", None),
            ("system", Some(Placement::System)),
            ("before_last_user", Some(Placement::BeforeLastUser)),
            ("last_user", Some(Placement::LastUser)),
        ];
        for (name, placement) in places {
            let edits = request.plan(placement.map(|placement| (CONTEXT, placement)));
            let edited = edits.apply(body);
            assert_eq!(crate::tests::undone(&edits, &edited, body), body);
            assert_eq!(edits.is_empty(), edited == body);
            let edited = String::from_utf8(edited).unwrap();
            let json = edited.trim_start_matches('\u{feff}');
            serde_json::from_str::<serde::de::IgnoredAny>(json).unwrap();
            let note = match (placement, edits.placed()) {
                (None, Placed::NotAsked) => "",
                (Some(asked), Placed::At(placed)) if asked == placed => "",
                (_, Placed::At(Placement::BeforeLastUser)) => " (before_last_user instead)",
                (Some(_), Placed::Nowhere) => " (nowhere)",
                (asked, placed) => panic!("{asked:?} gave {placed:?}"),
            };
            let shown = if edits.is_empty() { "(unchanged)" } else { &edited };
            writeln!(sections, "=== {name}{note}\n{shown}").unwrap();
        }
        sections
    });
}

/// The members of an ask that say something.
fn ask_lines(ask: &Ask) -> String {
    let silent = Ask::default();
    let mut lines = String::new();
    macro_rules! say {
        ($($member:ident)*) => {$(
            if ask.$member != silent.$member {
                writeln!(lines, "{}: {:?}", stringify!($member), ask.$member).unwrap();
            }
        )*};
    }
    say!(model stream user_text user_ordinal user_media first_user_text instructions);
    ask.history.iter().for_each(|said| writeln!(lines, "history: {said:?}").unwrap());
    ask.tool_items.iter().for_each(|item| writeln!(lines, "tool item: {item:?}").unwrap());
    say!(in_tool_loop tools_offered previous_response_id conversation store background);
    say!(metadata_user_id metadata_session_id user options);
    lines
}

#[test]
fn replies_are_collected_as_the_golden_files_say_however_they_are_cut() {
    check("replies", |case| {
        let whole = collect(case, case.body.as_bytes(), usize::MAX);
        let streamed = case.field("content-type").is_some_and(|kind| kind.contains("event-stream"));
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(collect(case, case.body.as_bytes(), size), whole, "cut every {size} bytes");
            for line_end in ["\r\n", "\r"].iter().filter(|_| streamed) {
                let body = case.body.replace('\n', line_end);
                assert_eq!(collect(case, body.as_bytes(), size), whole, "{line_end:?} by {size}");
            }
        }
        whole
    });
}

fn collect(case: &Case, body: &[u8], size: usize) -> String {
    let mut collector = ReplyCollector::new(case.dialect(), case.field("content-type"), 1 << 20);
    body.chunks(size.min(body.len().max(1))).for_each(|chunk| collector.push(chunk));
    match collector.finish() {
        Ok(reply) => format!("=== reply\n{}", reply_lines(&reply)),
        Err(fault) => format!("=== no reply\n{fault:?}\n"),
    }
}

fn reply_lines(reply: &Reply) -> String {
    let Reply { response_id, model, text, refusal, tool_calls, outcome, usage, items } = reply;
    let mut lines = format!("outcome: {outcome:?}, well ended: {}\n", outcome.is_well_ended());
    writeln!(lines, "response_id: {response_id:?}\nmodel: {model:?}\ntext: {text:?}").unwrap();
    writeln!(lines, "refusal: {refusal:?}\nusage: {usage:?}").unwrap();
    tool_calls.iter().for_each(|call| writeln!(lines, "tool call: {call:?}").unwrap());
    items.iter().for_each(|item| writeln!(lines, "item: {item}").unwrap());
    lines
}
