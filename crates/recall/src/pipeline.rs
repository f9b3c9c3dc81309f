//! The pipeline of one query: retrieve → rank → select → present, and the user's preferences beside it. Where a model helps
//! with the question, it runs once more for what the model says (`expansion`).

mod candidates;
mod expansion;
mod merge;
mod metadata_boost;
mod resumed;

use std::time::Instant;

use crate::{
    decision::{RecallError, Skip},
    hit::Hit,
    pipeline::expansion::{expanded, helper},
    present::{
        Context, ContextContent, Wanted, fetch_preferences, without_preferences, write_apart,
    },
    query::{Query, Technique},
    request::RecallRequest,
    retrieve::Retrieval,
    select::{Limits, deduplicated},
    services::Services,
    trail::{Cut, Step},
};
pub(super) use expansion::extra_time;
use memgate_telemetry::{Metrics, Phase};

/// The selected hits, best first.
///
/// # Errors
/// [`RecallError`].
pub(super) async fn search(
    services: &Services,
    retrieval: &Retrieval<'_>,
) -> Result<Vec<Hit>, RecallError> {
    let Retrieval { request, query, .. } = *retrieval;
    let hits = match helper(services, query) {
        Some(helper) => expanded(services, retrieval, helper).await?,
        None => {
            let hits = candidates::ranked(services, retrieval).await?;
            Limits::of(request).select(hits, &services.metrics)
        }
    };
    count(query, &hits, &services.metrics);
    Ok(hits)
}

/// All candidates, ranked, before threshold and limit.
///
/// # Errors
/// [`RecallError`].
pub(super) async fn ranked(
    services: &Services,
    retrieval: &Retrieval<'_>,
) -> Result<Vec<Hit>, RecallError> {
    Ok(deduplicated(candidates::ranked(services, retrieval).await?).collect())
}

/// The context for a query; its memories are counted as presented.
///
/// # Errors
/// [`RecallError`]; the request then goes on without a context.
pub(super) async fn context(
    services: &Services,
    retrieval: &Retrieval<'_>,
) -> Result<Context, RecallError> {
    let request = retrieval.request;
    let (hits, wanted) = tokio::join!(search(services, retrieval), wanted(services, request));
    let (hits, preferences) = match request.settings.budget.standing {
        0 => (hits?, Vec::new()),
        _ => without_preferences(hits?, &wanted),
    };
    let context = present(services, request, &retrieval.query.text, &wanted, &hits);
    if let Some(trace) = request.trace {
        trace.selected(hits);
        trace.cut_all(preferences, Cut::PreferenceKnown);
    }
    Ok(context)
}

/// The context for a message that memory is not searched for: the user's preferences alone. A store that fails or is
/// late makes it empty.
pub(super) async fn context_of_preferences(
    services: &Services,
    request: &RecallRequest<'_>,
    text: &str,
    why: Skip,
) -> Context {
    let wanted = wanted(services, request).await;
    let context = present(services, request, text, &wanted, &[]);
    Context { skipped: Some(why), ..context }
}

async fn wanted(services: &Services, request: &RecallRequest<'_>) -> Wanted {
    match request.settings.budget.standing {
        0 => Wanted::default(),
        _ => fetch_preferences(services.store.as_ref(), request).await,
    }
}

fn present(
    services: &Services,
    request: &RecallRequest<'_>,
    query: &str,
    wanted: &Wanted,
    hits: &[Hit],
) -> Context {
    let started = Instant::now();
    let Wanted { preferences, wishes } = wanted;
    let (now, zone) = (request.now, &request.zone);
    let content = ContextContent { preferences, wishes, hits, query, now, zone };
    let (mut context, found) = write_apart(&content, request.settings.budget);
    services.metrics.phase(Phase::Context, started.elapsed());
    if let Some(trace) = request.trace {
        trace.step(Step::Context, started.elapsed());
    }
    if context.shown.is_empty() {
        tracing::debug!("No memories above threshold");
    } else {
        services.metrics.presented(context.shown.len());
        for hit in &found {
            services.metrics.presented_of(hit.scope);
            let project = hit.memory.project_id.as_deref();
            let is_other = project.is_some() && project != request.projects.named();
            context.cross_project += usize::from(is_other);
        }
        services.metrics.presented_across_projects(context.cross_project as u64);
        tracing::info!("Memory: Retrieved {} memories", context.hits());
        // The preferences and wishes stand before the hits, and are the user's own.
        let known = &context.shown[..context.shown.len() - found.len()];
        let known = known.iter().map(|id| (request.owner, id));
        let found = found.iter().map(|hit| (&hit.memory.owner, &hit.memory.id));
        services.access.presented(known.chain(found), request.now);
    }
    context
}

/// Counts what the query's techniques did.
fn count(query: &Query, hits: &[Hit], metrics: &Metrics) {
    for (technique, took) in &query.used {
        let counted = |hit: &&Hit| match technique {
            Technique::KeyTerms | Technique::QuestionToStatement => true,
            Technique::Times => hit.breakdown.features.date > 0.0,
            Technique::Decompose => hit.breakdown.of_part,
            // Counted where they are used.
            Technique::Rewrite | Technique::Hyde | Technique::SelfQuery => false,
        };
        metrics.technique(technique.into(), *took, hits.iter().filter(counted).count());
    }
}
