//! The operations of the API, each written once: what it does, its method, path and key scope, the function of
//! `operations/` that performs it, the form of its request, and its answer.

use axum::http::{Method, StatusCode};

use crate::api::{
    ApiError, Caller, DecisionStream, Operations,
    operation::{Entry, Operation, RequestOf, Visitor},
    output::{LineStream, Tagged},
    read::{
        headers::{Headed, IdempotencyKey, IfMatch},
        input::{Body, Lines, OfId, Query},
        requests::*,
    },
    views::*,
};
use memgate_access::Scope;

/// Writes the type of each operation, and [`visit`].
macro_rules! operations {
    ($($tag:ident {$(
        $(#[doc = $doc:literal])+
        $name:ident = $method:ident $path:literal, $scope:ident,
            $function:ident($input:ty) -> $output:ty $(as $status:ident)?;
    )+})+) => {
        $($(
            $(#[doc = $doc])+
            pub struct $name;

            impl Operation for $name {
                const ENTRY: Entry = Entry {
                    name: stringify!($function),
                    tag: stringify!($tag),
                    method: Method::$method,
                    path: $path,
                    scope: Scope::$scope,
                    status: operations!(@status $($status)?),
                    doc: concat!($($doc, "\n"),+),
                };
                type Input = $input;
                type Output = $output;

                async fn run(
                    operations: &Operations,
                    caller: &Caller,
                    request: RequestOf<Self>,
                ) -> Result<$output, ApiError> {
                    operations.$function(caller, request).await
                }
            }
        )+)+

        /// Visits all operations, in the order of the table.
        pub fn visit(visitor: &mut impl Visitor) {
            $($(visitor.visit::<$name>();)+)+
        }
    };
    (@status) => { StatusCode::OK };
    (@status $status:ident) => { StatusCode::$status };
}

operations! {
    caller {
        /// The caller's rights, and whose memories it reaches.
        Whoami = GET "/v1/whoami", Read, whoami(Query<WhoseIfNamed>) -> CallerView;
    }
    memories {
        /// Lists memories, the newest first.
        List = GET "/v1/memory", Read, list(Query<ListRequest>) -> MemoriesView;
        /// Counts the memories that a list would show.
        Count = GET "/v1/memory/count", Read, count(Query<CountRequest>) -> CountView;
        /// Stores a memory.
        Create = POST "/v1/memory", Write,
            create(Headed<IdempotencyKey, Body<CreateRequest>>) -> Tagged<MemoryView> as CREATED;
        /// Deletes memories: all of a user or of one project, or those that meet every condition.
        ForgetScope = DELETE "/v1/memory", Write, forget_scope(Query<ForgetRequest>) -> DeletedView;
        /// Searches memories by meaning and words; without a query, shows the newest that meet the filter.
        Search = POST "/v1/memory/search", Read, search(Body<SearchRequest>) -> HitsView;
        /// Counts memories.
        Stats = GET "/v1/memory/stats", Read, stats(Query<Whose>) -> StatsView;
        /// One memory.
        One = GET "/v1/memory/{id}", Read, one(OfId<Query<Whose>>) -> Tagged<MemoryView>;
        /// One memory with all that is known of it: its links, what it was made of, its embedding spaces.
        RecordOf = GET "/v1/memory/{id}/record", Read, record_of(OfId<Query<Whose>>) -> Tagged<RecordView>;
        /// The versions of a memory, the newest first, each with its differences from the one before.
        History = GET "/v1/memory/{id}/history", Read, history(OfId<Query<Whose>>) -> HistoryView;
        /// Changes a memory.
        Patch = PATCH "/v1/memory/{id}", Write,
            patch(Headed<IfMatch, OfId<Body<ChangeRequest, Whose, PatchRequest>>>) -> Tagged<MemoryView>;
        /// Deletes a memory.
        Forget = DELETE "/v1/memory/{id}", Write, forget(OfId<Query<Whose>>) -> DeletedView;
    }
    preferences {
        /// The preferences and wishes in force.
        Preferences = GET "/v1/preferences", Read,
            preferences(Query<PreferencesRequest>) -> PreferencesView;
        /// Sets a preference, or a wish about every answer.
        SetPreference = PUT "/v1/preferences", Write,
            set_preference(Body<SetPreferenceRequest>) -> SetPreferenceView;
        /// Deletes preferences.
        UnsetPreference = DELETE "/v1/preferences", Write,
            unset_preference(Query<UnsetPreferenceRequest>) -> DeletedView;
    }
    journal {
        /// Ends the user's sessions and waits for their jobs.
        Flush = POST "/v1/memory/flush", Write, flush(Body<FlushRequest>) -> FlushedView;
        /// Lists the requests to forget that can still be undone.
        Forgettings = GET "/v1/forgettings", Read, forgettings(Query<Whose>) -> ForgettingsView;
        /// Restores what a request to forget has hidden.
        UndoForgetting = POST "/v1/forgettings/{id}/undo", Write,
            undo_forgetting(OfId<Body<Whose>>) -> UndoneView;
        /// Lists sessions, the latest started first.
        Sessions = GET "/v1/sessions", Read, sessions(Query<SessionsRequest>) -> SessionsView;
        /// Lists the turns of a session, the latest first, each with what was learned from it.
        SessionTurns = GET "/v1/sessions/{id}/turns", Read,
            session_turns(OfId<Query<SessionsRequest>>) -> SessionTurnsView;
        /// Ends a session.
        EndSession = POST "/v1/sessions/{id}/end", Write, end_session(OfId<Body<Whose>>) -> EndedView;
        /// Lists jobs, the newest first.
        Jobs = GET "/v1/jobs", Read, jobs(Query<JobsRequest>) -> JobsView;
        /// Runs all dead jobs of the user again.
        RetryJobs = POST "/v1/jobs/retry", Write, retry_jobs(Body<Whose>) -> RetriedView;
        /// Runs a dead job again.
        RetryJob = POST "/v1/jobs/{id}/retry", Write, retry_job(OfId<Body<Whose>>) -> JobView;
    }
    trail {
        /// Lists what recall did for a user's latest requests, the newest first.
        Recalls = GET "/v1/recalls", Read, recalls(Query<RecallsRequest>) -> RecallsView;
        /// The recall for a request: the decision, its candidates and what cut each of them.
        ///
        /// The id is the one in `x-memgate-request-id`. The latest requests are kept in memory (`memory.trail`).
        RecallOf = GET "/v1/recalls/{id}", Read, recall_of(OfId<Query<WhoseIfNamed>>) -> RecallView;
        /// Shows the decisions for a user's requests as they are made, as server-sent events.
        Watch = GET "/v1/decisions/stream", Read, watch(Query<Whose>) -> DecisionStream;
        /// The outcomes of a turn, each with its reason.
        ///
        /// The id is the turn's own, or that of its first request.
        TurnOf = GET "/v1/turns/{id}", Read, turn_of(OfId<Query<WhoseIfNamed>>) -> TurnView;
        /// The context that a model would receive for a message, without asking the model.
        ///
        /// The decision, the candidates, the context and the messages as they would be sent. Nothing is learned, counted or
        /// kept in the trail.
        Context = POST "/v1/context", Read, context(Body<ContextRequest>) -> ContextView;
        /// Why a text is remembered and shown, or not.
        Why = POST "/v1/memory/why", Read, why(Body<WhyRequest>) -> WhyView;
    }
    transfer {
        /// Exports a user's memories.
        Export = GET "/v1/memory/export", Read, export(Query<ExportRequest>) -> LineStream;
        /// Imports memories of a user.
        Import = POST "/v1/memory/import", Write, import(Lines<ImportRequest>) -> ImportedView;
        /// Exports the memories of all users.
        ExportAll = GET "/admin/memory/export", Admin, export_all(Query<ExportAllRequest>) -> LineStream;
        /// Imports memories of all users.
        ImportAll = POST "/admin/memory/import", Admin, import_all(Lines<ImportOptions>) -> ImportedView;
    }
    operators {
        /// Sums up the latest requests of all users: decisions, hits, time by step. It shows no content and no user.
        RecallSummary = GET "/admin/recalls/summary", Admin,
            recall_summary(Query<RecallSummaryRequest>) -> RecallSummaryView;
        /// Lists the jobs of all users, the newest first.
        AllJobs = GET "/admin/jobs", Admin, all_jobs(Query<AllJobsRequest>) -> JobsView;
        /// Runs all dead jobs again.
        RetryAllJobs = POST "/admin/jobs/retry", Admin, retry_all_jobs(Body<RetryAllRequest>) -> RetriedView;
        /// Lists the latest decisions for everybody's requests, the newest first, without content.
        AllDecisions = GET "/admin/decisions", Admin, decisions_of_all(Query<Newest>) -> DecisionsView;
        /// Shows the decisions for everybody's requests as they are made, as server-sent events, without content.
        WatchAll = GET "/admin/decisions/stream", Admin, watch_all(Query<NoMembers>) -> DecisionStream;
        /// Lists entries of the audit log, the newest first.
        Audit = GET "/admin/audit", Admin, audit(Query<AuditRequest>) -> AuditView;
    }
    keys {
        /// Lists the keys that were not revoked, the oldest first.
        Keys = GET "/admin/keys", Admin, keys(Query<NoMembers>) -> KeysView;
        /// Creates a key; no other answer shows it.
        CreateKey = POST "/admin/keys", Admin, create_key(Body<CreateKeyRequest>) -> CreatedKeyView as CREATED;
        /// Revokes a key.
        RevokeKey = DELETE "/admin/keys/{id}", Admin, revoke_key(OfId<Query<NoMembers>>) -> RevokedView;
    }
}
