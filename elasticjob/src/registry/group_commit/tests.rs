use super::*;
use crate::registry::CreateMode;

const SESSION: SessionId = SessionId(7);

type Group = GroupCommit<String>;

/// A transaction of two operations in nodes of its own.
fn begin(job: &str) -> Transaction {
    let mut transaction = Transaction::new().in_session(SESSION);
    transaction.check(format!("/{job}/config"), Some(1));
    transaction.create(format!("/{job}/running"), "", CreateMode::Ephemeral);
    transaction
}

fn submit(group: &mut Group, job: &str) {
    group.submit(job.to_owned(), begin(job));
}

fn with(jobs: &[&str]) -> Group {
    let mut group = GroupCommit::new(0);
    jobs.iter().for_each(|job| submit(&mut group, job));
    group
}

fn sent(group: &mut Group) -> Option<Request<String>> {
    let (request, answers) = group.next(SESSION, |_| false);
    assert_eq!(answers, []);
    request
}

fn jobs(request: &Request<String>) -> Vec<&str> {
    request.members.iter().map(|member| member.ticket.as_str()).collect()
}

fn applied(request: &Request<String>) -> Outcome {
    let result = |op: &Op| match op {
        Op::Create { path, .. } => OpResult::Create { path: path.clone() },
        _ => OpResult::Check,
    };
    Outcome::Applied(request.transactions().flat_map(|transaction| transaction.ops()).map(result).collect())
}

fn refused(index: usize) -> Outcome {
    Outcome::Refused { index: Some(index), reason: Refusal::BadVersion }
}

/// Answers what is out with a refusal of an operation, and returns the jobs that are told.
fn refuse(group: &mut Group, request: Request<String>, index: usize) -> Vec<String> {
    group.answered(request, refused(index)).into_iter().map(|(job, _)| job).collect()
}

#[test]
fn only_the_transaction_whose_operation_the_server_does_not_take_is_told_so() {
    let mut group = with(&["a", "b", "c"]);
    let request = sent(&mut group).expect("three wait");
    let over_quota = Outcome::NotReached { index: Some(3), why: "quota".into() };
    let told = group.answered(request, over_quota);
    assert_eq!(told, [("b".to_owned(), Err(CommitError::NotReached { why: "quota".into() }))]);
    let request = sent(&mut group).expect("the others go out again");
    assert_eq!(jobs(&request), ["a", "c"]);
    let declined = Outcome::NotReached { index: None, why: "throttled".into() };
    assert_eq!(group.answered(request, declined).len(), 2);
}

#[test]
fn a_transaction_alone_is_sent_at_once_and_what_comes_meanwhile_goes_together() {
    let mut group = with(&["a"]);
    let first = sent(&mut group).expect("nothing is out");
    assert_eq!(jobs(&first), ["a"]);
    for job in ["b", "c", "d"] {
        submit(&mut group, job);
        assert!(sent(&mut group).is_none(), "a request is out");
    }
    let outcome = applied(&first);
    assert_eq!(group.answered(first, outcome).len(), 1);
    let second = sent(&mut group).expect("three wait");
    assert_eq!(jobs(&second), ["b", "c", "d"]);
    let outcome = applied(&second);
    for (job, answer) in group.answered(second, outcome) {
        let created = OpResult::Create { path: format!("/{job}/running") };
        assert_eq!(answer.expect("it was applied").results, [OpResult::Check, created]);
    }
    assert!(sent(&mut group).is_none(), "nothing waits");
}

#[test]
fn only_the_transaction_of_the_refused_operation_is_refused() {
    let mut group = with(&["a", "b", "c"]);
    let request = sent(&mut group).expect("three wait");
    submit(&mut group, "d");
    let path = "/b/running".to_owned();
    let error = CommitError::Refused { index: 1, path, reason: Refusal::BadVersion };
    assert_eq!(group.answered(request, refused(3)), [("b".to_owned(), Err(error))]);
    let again = sent(&mut group).expect("the others wait");
    assert_eq!(jobs(&again), ["a", "c", "d"], "they go before what came later");
}

#[test]
fn what_others_kept_from_being_applied_twice_waits_for_no_request() {
    let mut group = with(&["a", "b", "c", "d"]);
    for (index, refused_job) in [(0, "a"), (2, "c")] {
        let request = sent(&mut group).expect("they wait");
        assert_eq!(refuse(&mut group, request, index), [refused_job]);
    }
    let apart = sent(&mut group).expect("it waits for no other");
    assert_eq!(jobs(&apart), ["b", "d"]);
    submit(&mut group, "e");
    let e = sent(&mut group).expect("those that go apart hold up no request");
    assert_eq!(jobs(&e), ["e"]);
    assert_eq!(refuse(&mut group, apart, 0), ["b"]);
    let d = sent(&mut group).expect("one by itself");
    assert_eq!(jobs(&d), ["d"]);
    submit(&mut group, "f");
    assert!(sent(&mut group).is_none(), "a request is out");
}

#[test]
fn many_refusals_cost_each_transaction_five_requests_at_most() {
    let names: Vec<String> = (0..300).map(|number| format!("j{number}")).collect();
    let mut group = with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut out = VecDeque::new();
    let mut requests = 0;
    let mut told = Vec::new();
    loop {
        while let Some(request) = sent(&mut group) {
            requests += 1;
            assert!(request.members.iter().all(|member| member.refused <= 4));
            out.push_back(request);
        }
        let Some(request) = out.pop_front() else { break };
        // Each tenth is refused, wherever it is.
        let refusable = jobs(&request).iter().position(|job| job.ends_with('7'));
        let outcome = refusable.map_or_else(|| applied(&request), |number| refused(2 * number));
        told.extend(group.answered(request, outcome).into_iter().map(|(job, answer)| (job, answer.is_ok())));
    }
    assert_eq!(told.len(), 300);
    assert!(told.iter().all(|(job, is_applied)| *is_applied != job.ends_with('7')));
    assert!(requests <= 150, "{requests}");
}

#[test]
fn what_was_refused_because_of_a_transaction_before_it_is_not_told_so() {
    let mut group = GroupCommit::new(0);
    let mut parent = Transaction::new();
    parent.create("/p/c", "", CreateMode::Persistent);
    group.submit("creates".to_owned(), parent);
    let mut delete = Transaction::new();
    delete.delete("/p", None);
    group.submit("deletes".to_owned(), delete);
    // Refused as the node has a child, which it will not have unless the first one is applied.
    for _ in 0..4 {
        let request = sent(&mut group).expect("both go again");
        assert_eq!(jobs(&request), ["creates", "deletes"]);
        assert_eq!(refuse(&mut group, request, 1), [""; 0]);
    }
    let [first, second] = [sent(&mut group), sent(&mut group)].map(|request| request.expect("each by itself"));
    assert_eq!([jobs(&first), jobs(&second)], [["creates"], ["deletes"]]);
    assert_eq!(refuse(&mut group, second, 0), ["deletes"]);
}

#[test]
fn a_request_that_is_refused_as_a_whole_is_taken_apart() {
    let mut group = with(&["a", "b"]);
    let whole = Outcome::Refused { index: None, reason: Refusal::BadArguments };
    for _ in 0..2 {
        let request = sent(&mut group).expect("two wait");
        assert_eq!(jobs(&request), ["a", "b"]);
        assert_eq!(group.answered(request, whole.clone()), []);
    }
    let a = sent(&mut group).expect("one by itself");
    assert_eq!(jobs(&a), ["a"]);
    let path = "/a/config".to_owned();
    let error = CommitError::Refused { index: 0, path, reason: Refusal::BadArguments };
    assert_eq!(group.answered(a, whole), [("a".to_owned(), Err(error))]);
}

#[test]
fn a_lost_answer_is_unknown_to_all_of_the_request_and_to_no_other() {
    let mut group = with(&["a", "b"]);
    let request = sent(&mut group).expect("two wait");
    submit(&mut group, "c");
    let answers = group.answered(request, Outcome::Unknown { why: "lost".into() });
    let unknown = CommitError::Unknown { why: "lost".into() };
    assert_eq!(answers, [("a".to_owned(), Err(unknown.clone())), ("b".to_owned(), Err(unknown))]);
    let next = sent(&mut group).expect("one waits");
    assert_eq!(jobs(&next), ["c"]);
}

#[test]
fn what_was_made_for_another_session_is_not_sent() {
    let mut group = with(&["a"]);
    let mut of_any = Transaction::new();
    of_any.delete("/b", None);
    group.submit("b".to_owned(), of_any);
    let (request, answers) = group.next(SessionId(8), |_| false);
    assert_eq!(request.as_ref().map(jobs), Some(vec!["b"]));
    assert!(matches!(answers.as_slice(), [(job, Err(CommitError::NotReached { .. }))] if job == "a"), "{answers:?}");
}

#[test]
fn a_transaction_without_its_caller_is_neither_sent_nor_sent_again() {
    let mut group = with(&["gone", "a", "b"]);
    let (request, answers) = group.next(SESSION, |job| job == "gone");
    let request = request.expect("two wait");
    assert_eq!((jobs(&request), answers), (vec!["a", "b"], vec![]));
    assert_eq!(refuse(&mut group, request, 0), ["a"]);
    assert!(group.next(SESSION, |job| job == "b").0.is_none());
    submit(&mut group, "c");
    assert!(sent(&mut group).is_some(), "nothing is out");
}

#[test]
fn what_is_given_up_is_not_sent_later() {
    let mut group = with(&["a", "b", "c"]);
    let request = sent(&mut group).expect("three wait");
    // Of two that are left one is apart.
    refuse(&mut group, request, 0);
    let request = sent(&mut group).expect("two wait");
    submit(&mut group, "d");
    refuse(&mut group, request, 0);
    let answers = group.give_up(&"no connection".into());
    let given_up: Vec<&str> = answers.iter().map(|(job, _)| job.as_str()).collect();
    assert_eq!(given_up, ["c", "d"]);
    assert!(answers.iter().all(|(_, answer)| matches!(answer, Err(CommitError::NotReached { .. }))));
    assert!(sent(&mut group).is_none());
}

#[test]
fn a_request_of_several_transactions_is_small_and_one_alone_may_be_large() {
    let mut group = GroupCommit::new(0);
    for (job, bytes) in
        [("a", 2 * MOST_BYTES), ("b", MOST_BYTES * 2 / 5), ("c", MOST_BYTES * 2 / 5), ("d", MOST_BYTES / 4)]
    {
        let mut transaction = Transaction::new();
        transaction.set("/x", vec![0; bytes], None);
        group.submit(job.to_owned(), transaction);
    }
    for expected in [vec!["a"], vec!["b", "c"], vec!["d"]] {
        let request = sent(&mut group).expect("some wait");
        assert_eq!(jobs(&request), expected);
        let outcome = applied(&request);
        group.answered(request, outcome);
    }
}
