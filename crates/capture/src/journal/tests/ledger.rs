use crate::journal::tests::*;

impl Book {
    /// A job that was given up.
    pub(super) async fn dead(&self, user: &'static str, subject: i64) {
        let sql =
            "INSERT INTO jobs (kind, subject, tenant, user, lane, payload, due_at, state, tries,
                       last_error, created_at)
                   VALUES ('extract', ?2, 'default', ?1, 'extract//default/' || ?1, 'their words',
                       0, 'dead', 2, 'the server answered 400', 0)";
        self.journal.write(move |c| c.execute(sql, (user, subject))).await.unwrap();
    }

    async fn listed(&self, query: JobQuery) -> Vec<JobRow> {
        self.journal.read(move |c| list_jobs(c, &query)).await.unwrap()
    }
}

fn of(user: &str) -> JobQuery {
    JobQuery { owner: Some(owner(user)), limit: 10, ..JobQuery::default() }
}

#[tokio::test]
async fn jobs_are_listed_newest_first_by_owner_and_state_and_page() {
    let book = Book::open();
    book.record(said("alice", 1, "I moved to Lyon").session("s")).await;
    book.dead("alice", 7).await;
    book.dead("bob", 8).await;
    let kinds = |rows: Vec<JobRow>| rows.into_iter().map(|row| row.kind).collect::<Vec<_>>();
    let all = book.listed(of("alice")).await;
    assert_eq!(kinds(all.clone()), ["extract", "store_turn", "end_idle_session"]);
    let dead = JobQuery { state: Some(JobStanding::Dead), ..of("alice") };
    let [dead] = &book.listed(dead).await[..] else { panic!("one") };
    assert_eq!((dead.tries, dead.last_error.as_deref()), (2, Some("the server answered 400")));
    assert!(!format!("{dead:?}").contains("their words"));
    let second = JobQuery { before: Some(all[0].id), limit: 1, ..of("alice") };
    assert_eq!(kinds(book.listed(second).await), ["store_turn"]);
    let everybody = JobQuery { owner: None, state: Some(JobStanding::Dead), ..of("alice") };
    assert_eq!(book.listed(everybody).await.len(), 2);
}

#[tokio::test]
async fn a_dead_job_asked_for_again_is_due_with_all_its_tries_and_only_by_its_owner() {
    let book = Book::open();
    for subject in 1..=3 {
        book.dead("alice", subject).await;
    }
    book.dead("bob", 4).await;
    let retry_as =
        |user: &'static str, id| book.journal.write(move |c| retry(c, &owner(user), id, at(50)));
    assert_eq!(retry_as("bob", 1).await.unwrap(), None);
    let job = retry_as("alice", 1).await.unwrap().unwrap();
    assert_eq!((job.state, job.tries), (JobStanding::Pending, 0));
    let room = Room { busy: "[]".into(), extractions: true, others: true };
    let due = book.journal.read(move |c| next_due(c, &room, at(50))).await.unwrap();
    assert_eq!(due.unwrap().id, 1);
    let revive = |whose: Option<&'static str>| {
        book.journal.write(move |c| retry_dead(c, whose.map(owner).as_ref(), at(50)))
    };
    assert_eq!(revive(Some("alice")).await.unwrap(), 2);
    assert_eq!((revive(Some("alice")).await.unwrap(), revive(None).await.unwrap()), (0, 1));
}

#[tokio::test]
async fn sessions_are_listed_the_last_begun_first_and_only_the_owners() {
    let book = Book::open();
    for (user, session, second) in [("alice", "a", 0), ("bob", "x", 1), ("alice", "b", 2)] {
        book.record(said(user, 1, "I moved to Lyon").session(session).at(second)).await;
    }
    book.journal.end_session(owner("alice"), "a".into(), RULES, at(50)).await.unwrap();
    let list = |before, limit| {
        book.journal.read(move |c| list_sessions(c, &owner("alice"), before, limit))
    };
    let all = list(None, 10).await.unwrap();
    let told: Vec<_> = all.iter().map(|s| (s.id.as_str(), s.turns, s.ended_at)).collect();
    assert_eq!(told, [("b", 1, None), ("a", 1, Some(at(50)))]);
    assert_eq!((all[1].started_at, all[1].active_at), (at(0), at(1)));
    assert_eq!(list(Some(all[0].number), 10).await.unwrap(), all[1..]);
}
