//! `memgate check-config`: reports errors and likely mistakes in a configuration, or prints the one that is in force.

use std::{fmt, path::PathBuf, process::ExitCode};

use serde::Serialize;

use crate::cli::{answer, options::ConfigFile, output::print::print};
use memgate_config::{Config, ConfigError, Place, Problem};

/// Arguments of `memgate check-config`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Print the configuration in force: the preset, the file, and the environment.
    #[arg(long)]
    effective: bool,
    /// Print {file, ok, problems, warnings} as JSON; the lists contain {line, variable, key, cause}. With --effective
    /// also {effective}.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let findings = Findings::of(self.config.path(), self.effective);
        let said = match (self.json, &findings.effective) {
            (true, _) => serde_json::to_string(&findings).unwrap_or_default(),
            (false, Some(config)) => commented(&findings, config),
            (false, None) => findings.to_string(),
        };
        match print(format!("{}\n", said.trim_end()).as_bytes()) {
            Err(failure) => answer::report(&failure, false),
            Ok(()) if findings.ok => ExitCode::SUCCESS,
            Ok(()) => ExitCode::FAILURE,
        }
    }
}

/// The configuration as a file that may be used as it is, with the findings as comments before it.
fn commented(findings: &Findings, config: &Config) -> String {
    let comments: String = findings.to_string().lines().map(|line| format!("# {line}\n")).collect();
    comments + &config.to_yaml()
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct Findings {
    /// The file; null when the defaults were checked.
    file: Option<PathBuf>,
    /// Whether memgate accepts it.
    ok: bool,
    /// Errors, in the order of the file.
    problems: Vec<Finding>,
    /// Settings that are allowed but probably a mistake.
    warnings: Vec<Finding>,
    /// The configuration in force, where it was asked for and is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<Config>,
}

#[derive(Debug, Serialize)]
struct Finding {
    /// Line number, starting at 1; null if no line is concerned.
    line: Option<u64>,
    /// Environment variable; null if none is concerned.
    variable: Option<String>,
    /// Null if the whole file is concerned.
    key: Option<String>,
    cause: String,
}

impl Findings {
    fn of(file: Option<PathBuf>, effective: bool) -> Self {
        let (config, problems) = match Config::load_with(file.as_deref(), &|_| {}) {
            Ok(config) => (Some(config), Vec::new()),
            Err(ConfigError::Invalid { problems, .. }) => (None, problems),
            Err(ConfigError::File { cause, .. }) => (None, vec![Problem::new("", cause)]),
        };
        let warnings = config.as_ref().map(Config::warnings).unwrap_or_default();
        let findings = |all: Vec<Problem>| all.into_iter().map(Finding::from).collect();
        Self {
            file,
            ok: config.is_some(),
            problems: findings(problems),
            warnings: findings(warnings),
            effective: config.filter(|_| effective),
        }
    }
}

impl From<Problem> for Finding {
    fn from(Problem { key, place, cause }: Problem) -> Self {
        let (line, variable) = match place {
            Some(Place::Line(line)) => (Some(line), None),
            Some(Place::Variable(name)) => (None, Some(name)),
            None => (None, None),
        };
        Self { line, variable, key: (!key.is_empty()).then_some(key), cause }
    }
}

impl fmt::Display for Findings {
    /// One line per finding, `file:line: key: cause` as in compilers or `VARIABLE: key: cause`, and a summary.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match &self.file {
            Some(file) => file.display().to_string(),
            None => "the defaults (no file)".to_owned(),
        };
        let kinds = [("", &self.problems), ("warning: ", &self.warnings)];
        for (kind, finding) in
            kinds.iter().flat_map(|(kind, all)| all.iter().map(move |one| (kind, one)))
        {
            write!(f, "{}:", finding.variable.as_ref().unwrap_or(&file))?;
            if let Some(line) = finding.line {
                write!(f, "{line}:")?;
            }
            write!(f, " {kind}")?;
            if let Some(key) = &finding.key {
                write!(f, "{key}: ")?;
            }
            writeln!(f, "{}", finding.cause)?;
        }
        match self.problems.len() {
            0 => write!(f, "{file}: ok"),
            1 => write!(f, "{file}: 1 problem"),
            many => write!(f, "{file}: {many} problems"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn findings(text: &str) -> (String, Value) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.yaml");
        std::fs::write(&file, text).unwrap();
        let findings = Findings::of(Some(file), false);
        let told = findings.to_string().replace(&format!("{}/", folder.path().display()), "");
        let mut json = serde_json::to_value(&findings).unwrap();
        json["file"].take();
        (told, json)
    }

    #[test]
    fn a_valid_file_is_ok() {
        let (told, json) = findings("{}\n");
        assert_eq!(told, "c.yaml: ok");
        assert_eq!(json, json!({"file": null, "ok": true, "problems": [], "warnings": []}));
    }

    #[test]
    fn every_problem_has_its_line_key_and_cause() {
        let (told, json) = findings("memory:\n  deadline_ms: 0\n  max_body_bytes: 5\n");
        assert_eq!(
            told,
            "c.yaml:2: memory.deadline_ms: must be between 1 and 60000\n\
             c.yaml:3: memory.max_body_bytes: must be between 1024 and 1073741824\n\
             c.yaml: 2 problems"
        );
        assert_eq!(json["ok"], false);
        let first = json!({"line": 2, "variable": null, "key": "memory.deadline_ms", "cause": "must be between 1 and 60000"});
        assert_eq!(json["problems"][0], first);
    }

    #[test]
    fn the_configuration_in_force_is_a_file_that_gives_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let [file, again] = ["c.yaml", "again.yaml"].map(|name| folder.path().join(name));
        std::fs::write(&file, "preset: testing\nmemory: {deadline_ms: 70}\n").unwrap();
        let findings = Findings::of(Some(file.clone()), true);
        let printed = commented(&findings, findings.effective.as_ref().unwrap());
        assert!(printed.starts_with('#') && printed.contains("deadline_ms: 70\n"), "{printed}");
        std::fs::write(&again, printed).unwrap();
        assert_eq!(Config::load(&again), Config::load(&file));
    }

    #[test]
    fn an_unknown_key_comes_with_a_suggestion() {
        let (told, _) = findings("memory:\n  deadline: 5\n");
        assert_eq!(
            told,
            "c.yaml:2: memory.deadline: unknown key; did you mean \"deadline_ms\"?\nc.yaml: 1 problem"
        );
    }

    #[test]
    fn an_unused_model_is_a_warning() {
        for key in ["hyde", "self_query"] {
            let (told, json) = findings(&format!("memory: {{query: {{{key}: true}}}}\n"));
            assert!(told.contains(&format!("warning: memory.query.{key}: ")), "{told}");
            assert!(told.ends_with("c.yaml: ok"), "{told}");
            let warnings = json["warnings"].as_array().unwrap().len();
            assert_eq!((&json["ok"], warnings), (&json!(true), 1));
        }
    }

    #[test]
    fn a_missing_file_is_a_problem() {
        let findings = Findings::of(Some("/nowhere/c.yaml".into()), false);
        assert_eq!(
            findings.to_string(),
            "/nowhere/c.yaml: no such file\n/nowhere/c.yaml: 1 problem"
        );
    }
}
