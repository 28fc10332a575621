//! Requests that may be sent twice: the answer of the first one is given again.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;

use super::Problem;
use super::actions::Done;

/// The header with the key.
const HEADER: &str = "idempotency-key";

/// The longest key, in bytes.
const LONGEST: usize = 200;

/// How many answers are kept. The oldest one goes first.
const KEPT: usize = 1_000;

/// The caller, the route with its names, and the key.
type Key = [String; 3];

type Answer = Result<Done, Problem>;

/// A request that came with a key.
struct Request {
    body: String,
    /// `None` until it is answered.
    answer: Option<Answer>,
}

/// Without its body, which may have secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Kept {
    requests: HashMap<Key, Request>,
    /// The keys of answered requests, the oldest one first.
    answered: VecDeque<Key>,
}

/// The last answers, by key.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<Kept>);

/// Forgets a request that ends without an answer to keep: its key is free again.
struct Underway<'a> {
    answers: &'a Answers,
    key: Key,
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        let mut kept = self.answers.kept();
        if kept.requests.get(&self.key).is_some_and(|request| request.answer.is_none()) {
            kept.requests.remove(&self.key);
        }
    }
}

impl Answers {
    /// Does what a request asks for, unless a request with its key has done it. Without a key it is always done.
    ///
    /// What was surely not done can be tried again with the same key.
    pub(crate) async fn once(
        &self,
        headers: &HeaderMap,
        caller: &str,
        route: &str,
        body: &str,
        act: impl Future<Output = Answer>,
    ) -> Answer {
        let Some(key) = headers.get(HEADER) else { return act.await };
        let key = key.to_str().ok().filter(|key| (1..=LONGEST).contains(&key.len()));
        let Some(key) = key else {
            return Err(Problem::bad_request(format!("the Idempotency-Key has 1 to {LONGEST} characters of ASCII")));
        };
        let key = [caller, route, key].map(str::to_owned);
        if let Some(answer) = self.begin(&key, body)? {
            return answer;
        }
        let underway = Underway { answers: self, key };
        let answer = act.await;
        if answer.as_ref().map_or_else(Problem::is_unknown, |_| true) {
            self.keep(underway.key.clone(), answer.clone());
        }
        answer
    }

    /// The answer to an earlier request with this key.
    fn begin(&self, key: &Key, body: &str) -> Result<Option<Answer>, Problem> {
        let mut kept = self.kept();
        match kept.requests.get(key) {
            Some(earlier) if earlier.body != body => Err(Problem::key_reused()),
            Some(Request { answer: None, .. }) => Err(Problem::key_in_use()),
            Some(Request { answer, .. }) => Ok(answer.clone()),
            None => {
                kept.requests.insert(key.clone(), Request { body: body.to_owned(), answer: None });
                Ok(None)
            }
        }
    }

    fn keep(&self, key: Key, answer: Answer) {
        let mut kept = self.kept();
        if let Some(request) = kept.requests.get_mut(&key) {
            request.answer = Some(answer);
            kept.answered.push_back(key);
        }
        if kept.answered.len() > KEPT
            && let Some(oldest) = kept.answered.pop_front()
        {
            kept.requests.remove(&oldest);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn with_key(key: &str) -> HeaderMap {
        HeaderMap::from_iter([(HEADER.parse().expect("a name"), key.parse().expect("a value"))])
    }

    async fn code(answers: &Answers, key: &str, body: &str, act: impl Future<Output = Answer>) -> &'static str {
        match answers.once(&with_key(key), "alice", "/jobs/a/triggers", body, act).await {
            Ok(_) => "done",
            Err(problem) => problem.code(),
        }
    }

    #[test]
    fn what_is_printed_of_a_request_has_no_body() {
        let printed = format!("{:?}", Request { body: "password=of-it".to_owned(), answer: None });
        assert!(!printed.contains("of-it"), "{printed}");
    }

    #[tokio::test]
    async fn a_request_is_done_once_and_a_refused_one_can_be_tried_again() {
        let (answers, count) = (Answers::default(), AtomicUsize::new(0));
        let act = |answer: Answer| {
            let count = &count;
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                answer
            }
        };
        let refused = || Err(Problem::bad_request("no"));
        let unknown = || Err(Problem::bad_request("lost").with("outcome", "unknown"));
        assert_eq!(code(&answers, "1", "x", act(refused())).await, "bad-request");
        assert_eq!(code(&answers, "1", "x", act(Ok(Done::default()))).await, "done");
        assert_eq!(code(&answers, "1", "x", act(refused())).await, "done", "the same answer");
        assert_eq!(code(&answers, "1", "y", act(refused())).await, "key-reused");
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(code(&answers, "2", "x", act(unknown())).await, "bad-request");
        assert_eq!(code(&answers, "2", "x", act(Ok(Done::default()))).await, "bad-request", "it may have been done");
        assert_eq!(count.load(Ordering::Relaxed), 3);
        assert_eq!(code(&answers, "3", "x", async { Ok(Done::default()) }).await, "done");
    }

    #[tokio::test]
    async fn a_key_is_in_use_until_its_request_ends_and_the_oldest_answers_go() {
        let answers = Answers::default();
        let nested = async {
            assert_eq!(code(&answers, "k", "x", async { Ok(Done::default()) }).await, "key-in-use");
            Err(Problem::bad_request("no"))
        };
        assert_eq!(code(&answers, "k", "x", nested).await, "bad-request");
        assert_eq!(answers.kept().requests.len(), 0, "its key is free");
        for number in 0..=KEPT {
            code(&answers, &number.to_string(), "x", async { Ok(Done::default()) }).await;
        }
        let kept = answers.kept();
        assert_eq!((kept.requests.len(), kept.answered.len()), (KEPT, KEPT));
        assert!(!kept.requests.keys().any(|key| key[2] == "0"), "the oldest one");
    }
}
