//! `memgate jobs`: lists jobs and retries dead ones.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::{
    api::{
        AllJobsRequest, JobFilter, JobsRequest, Paging, RetriedView, RetryAllRequest, WithId,
        table::{AllJobs, Jobs, RetryAllJobs, RetryJob, RetryJobs},
    },
    cli::{
        answer,
        options::{Common, WhoseIfGiven, count},
        output::show_jobs,
    },
    startup::Need,
};
use memgate_capture::JobStanding;

/// Arguments of `memgate jobs`. Content is never shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: WhoseIfGiven,
    /// Retry one job or all dead jobs; a waiting job runs at once.
    #[arg(long, value_name = "JOB|all", value_parser = which,
          conflicts_with_all = ["state", "limit", "cursor"])]
    retry: Option<Which>,
    /// Show only jobs in this state.
    #[arg(long, value_parser = standing())]
    state: Option<JobStanding>,
    /// Maximum number of jobs, 1 to 100 [default: 20].
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Cursor printed at the end of the previous page.
    #[arg(long)]
    cursor: Option<String>,
}

/// The jobs to retry.
#[derive(Clone, Debug)]
enum Which {
    One(i64),
    AllDead,
}

fn which(text: &str) -> Result<Which, &'static str> {
    match text {
        "all" => Ok(Which::AllDead),
        number => number.parse().map(Which::One).map_err(|_| "must be the number of a job, or all"),
    }
}

fn standing() -> impl TypedValueParser<Value = JobStanding> {
    PossibleValuesParser::new(JobStanding::ALL.iter().map(|state| state.name())).map(|name| {
        let named = |standing: &JobStanding| standing.name() == name;
        JobStanding::ALL.iter().copied().find(named).unwrap_or(JobStanding::Dead)
    })
}

impl Args {
    /// Checks that retrying a single job names its owner.
    pub(crate) fn check(&self) -> Result<(), clap::Error> {
        if !self.whose.is_given() && matches!(self.retry, Some(Which::One(_))) {
            let kind = clap::error::ErrorKind::MissingRequiredArgument;
            return Err(clap::Error::raw(
                kind,
                "--retry JOB requires --user ID or --space SPACE\n",
            ));
        }
        Ok(())
    }

    pub(crate) fn run(self) -> ExitCode {
        if let Err(error) = self.check() {
            error.exit();
        }
        let whose = self.whose.given();
        let (common, need) = (self.common, Need::Stored);
        let retried = |done: &RetriedView, _| show_jobs::retried(done);
        let all = AllJobsRequest {
            filter: JobFilter { state: self.state },
            paging: Paging { limit: self.limit, cursor: self.cursor },
        };
        match (self.retry, whose) {
            (Some(Which::One(id)), Some(whose)) => {
                let retry = WithId { id: id.to_string(), request: whose };
                answer::run::<RetryJob>(common, need, retry, show_jobs::job)
            }
            (Some(_), Some(whose)) => answer::run::<RetryJobs>(common, need, whose, retried),
            (Some(_), None) => {
                answer::run::<RetryAllJobs>(common, need, RetryAllRequest {}, retried)
            }
            (None, Some(whose)) => {
                answer::run::<Jobs>(common, need, JobsRequest { whose, all }, show_jobs::jobs)
            }
            (None, None) => answer::run::<AllJobs>(common, need, all, show_jobs::jobs),
        }
    }
}
