//! Sends transactions: those of all jobs that wait at the same moment as one request ([`GroupCommit`]).

use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use zookeeper_client::{Acls, Client, CreateMode as ClientMode, MultiWriteError, MultiWriteResult};

use super::session::{Live, Session};
use super::{access, answer};
use crate::registry::group_commit::{Answers, GroupCommit, Outcome, Request};
use crate::registry::{Answer, CommitError, Committed, CreateMode, Op, SessionId, Transaction};
use crate::texts;

type Ticket = oneshot::Sender<Result<Committed, CommitError>>;

/// The transactions of a session on their way.
pub(super) struct Writes {
    session: Arc<Session>,
    runtime: Handle,
    group: Mutex<GroupCommit<Ticket>>,
}

impl Writes {
    pub(super) fn new(session: Arc<Session>, runtime: Handle) -> Arc<Self> {
        let group = Mutex::new(GroupCommit::new(session.config.root().len()));
        Arc::new(Self { session, runtime, group })
    }

    /// Sends a transaction, at once or with the next request.
    pub(super) fn commit(self: &Arc<Self>, transaction: Transaction) -> Answer<Committed, CommitError> {
        let (ticket, answer) = oneshot::channel();
        self.lock().submit(ticket, transaction);
        self.send();
        Box::pin(async { answer.await.unwrap_or_else(|_| Err(ended())) })
    }

    /// Called before a read is sent. A caller that has dropped the future of a transaction reads what became of it: what is
    /// being sent at this moment has to be sent before.
    pub(super) fn before_read(&self) {
        drop(self.lock());
    }

    /// Sends what can be sent now.
    fn send(self: &Arc<Self>) {
        while let Some(out) = self.next() {
            // It holds the session while it runs, so it must also end when no task polls the answer.
            self.runtime.spawn(out.settle());
        }
    }

    /// The next request, sent.
    fn next(self: &Arc<Self>) -> Option<Out> {
        let mut group = self.lock();
        let (request, answers) = match self.session.live() {
            Ok(live) => {
                let (request, answers) = group.next(SessionId(live.client.session_id().0), Ticket::is_closed);
                (request.map(|request| self.out(live, request)), answers)
            }
            Err(why) => (None, group.give_up(&why)),
        };
        drop(group);
        deliver(answers);
        request
    }

    /// Sends a request. The caller holds the lock, so requests are sent in the order in which they are taken.
    fn out(self: &Arc<Self>, live: Arc<Live>, request: Request<Ticket>) -> Out {
        let mut call = self.session.call(&live, true);
        let transactions: Vec<Arc<Transaction>> = request.transactions().cloned().collect();
        let (limit, acls) = (live.client.session_timeout(), access::acls(&self.session.config));
        let mut answer: BoxFuture<'static, Outcome> = Box::pin(async move {
            let result = call.settle_write(write(&live.client, &transactions, acls).await);
            answer::outcome(result.unwrap_or_else(|source| Err(MultiWriteError::RequestFailed { source })))
        });
        // The first poll sends it.
        if let Some(outcome) = (&mut answer).now_or_never() {
            answer = Box::pin(ready(outcome));
        }
        Out { writes: self.clone(), request: Some(request), answer, limit }
    }

    fn answered(self: &Arc<Self>, request: Request<Ticket>, outcome: Outcome) {
        let answers = self.lock().answered(request, outcome);
        deliver(answers);
        self.send();
    }

    fn lock(&self) -> MutexGuard<'_, GroupCommit<Ticket>> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was sent. However its task ends, the request is answered: others wait behind it.
struct Out {
    writes: Arc<Writes>,
    request: Option<Request<Ticket>>,
    answer: BoxFuture<'static, Outcome>,
    limit: std::time::Duration,
}

impl Out {
    async fn settle(mut self) {
        let outcome = match tokio::time::timeout(self.limit, &mut self.answer).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let why = texts::center_silent(self.limit.as_millis().to_string());
                // Nor will there be one to what waits behind it.
                let waiting = self.writes.lock().give_up(&texts::earlier_request(why.clone()));
                deliver(waiting);
                Outcome::Unknown { why }
            }
        };
        if let Some(request) = self.request.take() {
            self.writes.answered(request, outcome);
        }
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.writes.answered(request, Outcome::Unknown { why: texts::request_given_up() });
        }
    }
}

fn deliver(answers: Answers<Ticket>) {
    for (ticket, answer) in answers {
        // A caller that is gone needs no answer.
        let _ = ticket.send(answer);
    }
}

fn ended() -> CommitError {
    CommitError::Unknown { why: texts::center_closed() }
}

async fn write(
    client: &Client,
    transactions: &[Arc<Transaction>],
    acls: Acls<'_>,
) -> Result<Vec<MultiWriteResult>, MultiWriteError> {
    let mut writer = client.new_multi_writer();
    for (index, op) in transactions.iter().flat_map(|transaction| transaction.ops()).enumerate() {
        let added = match op {
            Op::Check { path, version } => writer.add_check_version(path, version.unwrap_or(-1)),
            Op::Create { path, data, mode } => writer.add_create(path, data, &client_mode(*mode).with_acls(acls)),
            Op::Set { path, data, version } => writer.add_set_data(path, data, *version),
            Op::Delete { path, version } => writer.add_delete(path, *version),
        };
        added.map_err(|source| MultiWriteError::OperationFailed { index, source })?;
    }
    writer.commit().await
}

fn client_mode(mode: CreateMode) -> ClientMode {
    match mode {
        CreateMode::Persistent => ClientMode::Persistent,
        CreateMode::Ephemeral => ClientMode::Ephemeral,
        CreateMode::EphemeralSequential => ClientMode::EphemeralSequential,
    }
}
