//! Group commit: transactions that wait for the same session go out together, as one request.
//!
//! A process has many jobs and one session, and jobs of the same second have a transaction each at the same moment. One
//! request is out at a time. What is made meanwhile goes with the next one, so nothing is held back to fill a request, and
//! a process with little to write sends each transaction at once.
//!
//! Each transaction keeps its own promise, all or nothing under its own guards. A server applies the operations of a request
//! all or not at all, and names the one that it refuses. So only the transaction of that operation is refused; the others
//! were not applied and go out again: together at first, then with few others, then each by itself, so that a number of
//! refusals costs no transaction more than a few round trips. An answer that gets lost is unknown to all of them.
//!
//! A transaction whose caller is gone is not sent, or not again. So no read of the next caller can be answered before a
//! transaction of the one before it: what was sent before the read is applied before it, and nothing else is sent.

use std::collections::VecDeque;
use std::sync::Arc;

use elasticjob_syntax::message::Message;

use super::limits::size_of;
use super::{CommitError, Committed, Op, OpResult, Refusal, SessionId, Transaction};

/// The most bytes of a request of several transactions. A server handles one request after the other, also those of
/// other clients: it should not be held up by one for long.
const MOST_BYTES: usize = 256 * 1024;

/// The most transactions of a request whose first one was in `refused` requests that were refused for others.
fn most_together(refused: u8) -> usize {
    match refused {
        0 | 1 => usize::MAX,
        2 => 16,
        3 => 4,
        _ => 1,
    }
}

/// After this number of refusals for others, a transaction waits for no request that is out.
const MOST_REFUSALS: u8 = 2;

/// A transaction, and the caller that gets its answer.
#[derive(Debug, Clone)]
struct Member<T> {
    ticket: T,
    transaction: Arc<Transaction>,
    bytes: usize,
    /// How many requests with it were refused for others.
    refused: u8,
}

/// The transactions of one request.
#[derive(Debug, Clone)]
pub(crate) struct Request<T> {
    members: Vec<Member<T>>,
    /// Whether others wait until it is answered.
    is_the_one_out: bool,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All operations were applied; one result for each, in order.
    Applied(Vec<OpResult>),
    /// Nothing was applied, because of one operation, or of the request as a whole.
    Refused { index: Option<usize>, reason: Refusal },
    /// Nothing was applied, and nothing will be: the server did not take the request, or one operation of it, for a reason
    /// outside of them.
    NotReached { index: Option<usize>, why: Message },
    /// It may have been applied, or may still be.
    Unknown { why: Message },
}

/// Answers that can be given: to which caller, and which.
pub(crate) type Answers<T> = Vec<(T, Result<Committed, CommitError>)>;

/// The transactions of one session that are not answered yet.
#[derive(Debug)]
pub(crate) struct GroupCommit<T> {
    waiting: VecDeque<Member<T>>,
    /// Those that were refused for others often enough: they wait for no request.
    apart: VecDeque<Member<T>>,
    /// A request is out that others wait for.
    is_out: bool,
    /// The bytes by which paths get longer on their way to the server.
    prefix: usize,
}

impl<T> GroupCommit<T> {
    pub(crate) fn new(prefix: usize) -> Self {
        Self { waiting: VecDeque::new(), apart: VecDeque::new(), is_out: false, prefix }
    }

    /// Takes a transaction, which waits behind those that were made before it.
    pub(crate) fn submit(&mut self, ticket: T, transaction: Transaction) {
        let bytes = transaction.ops().iter().map(|op| size_of(op, self.prefix)).sum();
        self.waiting.push_back(Member { ticket, transaction: Arc::new(transaction), bytes, refused: 0 });
    }

    /// What can be sent now in a session, and the answers to transactions of another one: a decision of one session is not
    /// valid in another. `None` when a request is out, or nothing waits. Forgets transactions whose caller is gone.
    pub(crate) fn next(
        &mut self,
        session: SessionId,
        is_gone: impl Fn(&T) -> bool,
    ) -> (Option<Request<T>>, Answers<T>) {
        let mut answers = Vec::new();
        loop {
            let is_the_one_out = self.apart.is_empty();
            if is_the_one_out && (self.is_out || self.waiting.is_empty()) {
                return (None, answers);
            }
            let queue = if is_the_one_out { &mut self.waiting } else { &mut self.apart };
            let members = take(queue, session, &is_gone, &mut answers);
            if !members.is_empty() {
                self.is_out |= is_the_one_out;
                return (Some(Request { members, is_the_one_out }), answers);
            }
        }
    }

    /// Takes the outcome of a request, and gives the answers that follow from it.
    pub(crate) fn answered(&mut self, request: Request<T>, outcome: Outcome) -> Answers<T> {
        if request.is_the_one_out {
            self.is_out = false;
        }
        match outcome {
            Outcome::Applied(results) => request.applied(results),
            Outcome::Refused { index, reason } => {
                self.refused(request, index, |index, path| CommitError::Refused { index, path, reason })
            }
            Outcome::NotReached { index: index @ Some(_), why } => {
                self.refused(request, index, |_, _| CommitError::NotReached { why: why.clone() })
            }
            Outcome::NotReached { index: None, why } => request.all(&CommitError::NotReached { why }),
            Outcome::Unknown { why } => request.all(&CommitError::Unknown { why }),
        }
    }

    /// Gives up what waits: it is not sent any more.
    pub(crate) fn give_up(&mut self, why: &Message) -> Answers<T> {
        let not_reached = CommitError::NotReached { why: why.clone() };
        let waiting = self.apart.drain(..).chain(self.waiting.drain(..));
        waiting.map(|member| (member.ticket, Err(not_reached.clone()))).collect()
    }

    /// The transaction of the operation is not applied. Nor were the others, and they go out again before what came later.
    fn refused(
        &mut self,
        request: Request<T>,
        index: Option<usize>,
        error: impl Fn(usize, String) -> CommitError,
    ) -> Answers<T> {
        let guilty = request.guilty(index);
        // What is refused as a whole may be so again.
        let more = if index.is_some() { 1 } else { MOST_REFUSALS };
        let mut answers = Vec::new();
        let mut again = Vec::new();
        for (number, mut member) in request.members.into_iter().enumerate() {
            match guilty {
                Some((of, index)) if of == number => {
                    let path = member.transaction.ops().get(index).map(Op::path).unwrap_or_default().to_owned();
                    answers.push((member.ticket, Err(error(index, path))));
                }
                _ => {
                    member.refused = member.refused.saturating_add(more);
                    again.push(member);
                }
            }
        }
        for member in again.into_iter().rev() {
            let queue = if member.refused < MOST_REFUSALS { &mut self.waiting } else { &mut self.apart };
            queue.push_front(member);
        }
        answers
    }
}

/// Takes what goes out as one request.
fn take<T>(
    queue: &mut VecDeque<Member<T>>,
    session: SessionId,
    is_gone: impl Fn(&T) -> bool,
    answers: &mut Answers<T>,
) -> Vec<Member<T>> {
    let mut members: Vec<Member<T>> = Vec::new();
    let mut bytes = 0;
    while let Some(next) = queue.front() {
        // The first one goes in any case: its size was checked when it was made.
        let is_full =
            |first: &Member<T>| bytes + next.bytes > MOST_BYTES || members.len() >= most_together(first.refused);
        if members.first().is_some_and(is_full) {
            break;
        }
        let Some(next) = queue.pop_front() else { break };
        if is_gone(&next.ticket) {
            continue;
        }
        match next.transaction.check_session(session) {
            Ok(()) => {
                bytes += next.bytes;
                members.push(next);
            }
            Err(error) => answers.push((next.ticket, Err(error))),
        }
    }
    members
}

impl<T> Request<T> {
    /// Its callers, in the order of their transactions.
    #[cfg(feature = "testing")]
    pub(crate) fn tickets(&self) -> impl Iterator<Item = &T> {
        self.members.iter().map(|member| &member.ticket)
    }

    /// Its transactions, in order.
    pub(crate) fn transactions(&self) -> impl Iterator<Item = &Arc<Transaction>> {
        self.members.iter().map(|member| &member.transaction)
    }

    /// The transaction that is refused with an operation of the request, and the index of the operation there. `None` when
    /// that is not certain.
    fn guilty(&self, index: Option<usize>) -> Option<(usize, usize)> {
        if self.members.len() == 1 {
            return Some((0, index.unwrap_or_default()));
        }
        let (number, index) = self.member_of(index?)?;
        let op = self.members[number].transaction.ops().get(index)?;
        let mut before = self.transactions().take(number).flat_map(|transaction| transaction.ops());
        // Refused because of something that was not applied either: by itself it may be applied.
        before.all(|earlier| !concerns(earlier, op)).then_some((number, index))
    }

    /// The number of the transaction that an operation is of, and the index of the operation there.
    fn member_of(&self, mut index: usize) -> Option<(usize, usize)> {
        for (number, transaction) in self.transactions().enumerate() {
            let count = transaction.ops().len();
            if index < count {
                return Some((number, index));
            }
            index -= count;
        }
        None
    }

    fn applied(self, results: Vec<OpResult>) -> Answers<T> {
        let mut results = results.into_iter();
        let answer = |member: Member<T>| {
            let results = results.by_ref().take(member.transaction.ops().len()).collect();
            (member.ticket, Ok(Committed { results }))
        };
        self.members.into_iter().map(answer).collect()
    }

    fn all(self, error: &CommitError) -> Answers<T> {
        self.members.into_iter().map(|member| (member.ticket, Err(error.clone()))).collect()
    }
}

/// Whether a write decides if a later operation is refused.
fn concerns(write: &Op, later: &Op) -> bool {
    let is_below = |path: &str, above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    let (path, of) = (write.path(), later.path());
    !matches!(write, Op::Check { .. }) && (path == of || is_below(path, of) || is_below(of, path))
}

#[cfg(test)]
mod tests;
