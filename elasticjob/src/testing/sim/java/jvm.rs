//! A Java process: its threads, what they share, and what they want of the world around them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::cache::Cache;
use super::quartz::{Quartz, Request};
use super::settings::Settings;
use crate::clock::Now;
use crate::fire::{ExecutionSource, Fire};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::registry::{NodeData, Refusal, SessionState, Transaction, WatchEvent};
use crate::testing::rng::Rng;
use crate::testing::sim::Millis;

/// Tells calls of one process apart.
pub type Ticket = u64;

/// One request of a thread or of the cache to the server.
#[derive(Debug, Clone)]
pub enum Call {
    /// Data and existence.
    Get(String),
    /// Names of the children.
    Children(String),
    /// One write, or several at once.
    Commit(Transaction),
}

/// The answer of the server.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A node.
    Node(Option<NodeData>),
    /// Names of children.
    Children(Option<Vec<String>>),
    /// Written, or why not.
    Written(Result<(), Refusal>),
    /// No answer: the connection or the session was lost.
    Lost,
}

/// What a process wants of the world.
#[derive(Debug)]
pub(super) enum Wish {
    Call(Ticket, Call),
    Start {
        fire: Fire,
        source: ExecutionSource,
        items: Vec<ShardingItem>,
    },
    /// Items of this instance are not run for these fires, as the release has it.
    LeftOut {
        fires: Vec<i64>,
        items: Vec<ShardingItem>,
        why: &'static str,
    },
    Log(String),
    /// The job is over in this process.
    Exit,
}

/// What all threads of a process share.
pub(super) struct Jvm {
    pub(super) job: JobName,
    pub(super) id: InstanceId,
    /// Makes the names of latch nodes unique.
    pub(super) uuid: String,
    pub(super) rng: RefCell<Rng>,
    pub(super) cache: RefCell<Cache>,
    pub(super) quartz: RefCell<Quartz>,
    pub(super) settings: RefCell<Settings>,
    /// Whether the client believes in its connection, and how often it was lost.
    pub(super) connected: Cell<bool>,
    pub(super) reconnects: Cell<u32>,
    /// Latch nodes that were seen to go.
    pub(super) latches_gone: RefCell<BTreeSet<String>>,
    /// The job runs in this process, as it believes.
    pub(super) job_running: Cell<bool>,
    /// Its worker is anywhere between a trigger and the end of its runs.
    pub(super) busy: Cell<bool>,
    pub(super) executing: RefCell<BTreeSet<ShardingItem>>,
    /// The items it found to be its own when it looked last.
    pub(super) own_items: RefCell<Vec<ShardingItem>>,
    /// The total count that changes are compared with.
    pub(super) total: Cell<u32>,
    /// The start is through, so changes of the connection are listened to.
    pub(super) started: Cell<bool>,
    /// The process was asked to end: it waits for the run and leaves.
    pub(super) stopping: Cell<bool>,
    pub(super) connection_changes: RefCell<Vec<bool>>,
    pub(super) operators: Cell<u32>,
    /// Marks of runs that are over stay as long as the process, and nobody can tell them from those of live runs.
    pub(super) stuck: Cell<bool>,
    /// What would break the release: a violation.
    pub(super) broken: RefCell<Option<String>>,
    now: Cell<Now>,
    wishes: RefCell<Vec<Wish>>,
    replies: RefCell<BTreeMap<Ticket, Reply>>,
    timers: RefCell<BTreeMap<Ticket, Millis>>,
    tickets: Cell<Ticket>,
    stirred: Cell<bool>,
}

impl Jvm {
    pub(super) fn now(&self) -> Millis {
        self.now.get().mono.as_millis() as Millis
    }

    pub(super) fn wall(&self) -> i64 {
        self.now.get().wall
    }

    pub(super) fn wish(&self, wish: Wish) {
        self.wishes.borrow_mut().push(wish);
    }

    pub(super) fn log(&self, line: impl Into<String>) {
        self.wish(Wish::Log(line.into()));
    }

    pub(super) fn fail(&self, why: String) {
        self.broken.borrow_mut().get_or_insert(why);
    }

    /// Other threads may have something to do now.
    pub(super) fn stir(&self) {
        self.stirred.set(true);
    }

    pub(super) fn path(&self, node: &str) -> String {
        format!("/{}/{node}", self.job)
    }

    pub(super) fn next_ticket(&self) -> Ticket {
        self.tickets.set(self.tickets.get() + 1);
        self.tickets.get()
    }

    /// Sends a call whose answer nobody waits for.
    pub(super) fn send(&self, call: Call) -> Ticket {
        let ticket = self.next_ticket();
        self.wish(Wish::Call(ticket, call));
        ticket
    }

    /// One call to the server.
    pub(super) async fn ask(&self, call: Call) -> Reply {
        let ticket = self.send(call);
        poll_fn(|_| match self.replies.borrow_mut().remove(&ticket) {
            Some(reply) => Poll::Ready(reply),
            None => Poll::Pending,
        })
        .await
    }

    pub(super) async fn sleep(&self, time: Millis) {
        self.wait(Some(time), || false).await;
    }

    /// Waits until something is so, but no longer than this. Tells whether it is so.
    pub(super) async fn wait(&self, time: Option<Millis>, is_so: impl Fn() -> bool) -> bool {
        let until = time.map(|time| self.now() + time);
        let ticket = self.next_ticket();
        if let Some(until) = until {
            self.timers.borrow_mut().insert(ticket, until);
        }
        let came = poll_fn(|_| match is_so() {
            true => Poll::Ready(true),
            false if until.is_some_and(|until| self.now() >= until) => Poll::Ready(false),
            false => Poll::Pending,
        });
        let came = came.await;
        self.timers.borrow_mut().remove(&ticket);
        came
    }
}

type Thread = Pin<Box<dyn Future<Output = ()>>>;

/// A running Java process.
pub struct JavaProcess {
    jvm: Rc<Jvm>,
    threads: Vec<Thread>,
}

impl JavaProcess {
    /// A process that has not heard anything yet.
    pub(in crate::testing::sim) fn new(job: JobName, id: InstanceId, life: u64, id_reused: bool) -> Self {
        let jvm = Rc::new(Jvm {
            job,
            id,
            uuid: format!("{life:024x}"),
            rng: RefCell::new(Rng::new(life)),
            cache: RefCell::default(),
            quartz: RefCell::default(),
            settings: RefCell::default(),
            connected: Cell::new(false),
            reconnects: Cell::new(0),
            latches_gone: RefCell::default(),
            job_running: Cell::new(false),
            busy: Cell::new(false),
            executing: RefCell::default(),
            own_items: RefCell::default(),
            total: Cell::new(0),
            started: Cell::new(false),
            stopping: Cell::new(false),
            connection_changes: RefCell::default(),
            operators: Cell::new(0),
            stuck: Cell::new(id_reused),
            broken: RefCell::default(),
            now: Cell::new(Now { wall: 0, mono: Duration::ZERO }),
            wishes: RefCell::default(),
            replies: RefCell::default(),
            timers: RefCell::default(),
            tickets: Cell::new(0),
            stirred: Cell::new(false),
        });
        let of = || jvm.clone();
        let threads: [Thread; 6] = [
            Box::pin(super::start::main(of())),
            Box::pin(super::listeners::notify(of())),
            Box::pin(super::reconnect::connection_listener(of())),
            Box::pin(super::quartz::worker(of())),
            Box::pin(super::reconcile::reconcile(of())),
            Box::pin(super::group::operator(of())),
        ];
        Self { threads: threads.into(), jvm }
    }

    /// The id of its instance.
    pub(crate) fn id(&self) -> &InstanceId {
        &self.jvm.id
    }

    /// Whether it fires by another cron expression than this one.
    pub(crate) fn differs(&self, cron: &str) -> bool {
        self.jvm.quartz.borrow().differs(cron)
    }

    /// Whether it is anywhere between a trigger and the end of its runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.jvm.busy.get()
    }

    pub(super) fn on_session(&self, state: SessionState) {
        super::reconnect::on_session(&self.jvm, state);
    }

    pub(super) fn on_watch(&self, event: &WatchEvent) {
        super::cache::on_watch(&self.jvm, event);
    }

    pub(super) fn on_reply(&self, ticket: Ticket, reply: Reply) {
        if let Some(reply) = super::cache::on_reply(&self.jvm, ticket, reply) {
            self.jvm.replies.borrow_mut().insert(ticket, reply);
        }
    }

    pub(super) fn on_item_ended(&self, item: ShardingItem) {
        self.jvm.executing.borrow_mut().remove(&item);
    }

    /// Asks all online instances to run, as the one-off handle and the console do.
    pub(super) fn trigger_all(&self) {
        self.jvm.operators.set(self.jvm.operators.get() + 1);
    }

    /// The process is asked to end: it waits for its run.
    pub(super) fn stop(&self) {
        self.jvm.stopping.set(true);
    }

    /// Lets all threads go on as far as they can.
    pub(super) fn run(&mut self, now: Now) -> Vec<Wish> {
        self.jvm.now.set(now);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            self.jvm.stirred.set(false);
            self.threads.retain_mut(|thread| thread.as_mut().poll(&mut context).is_pending());
            if !self.jvm.stirred.get() {
                return self.jvm.wishes.take();
            }
        }
    }

    /// When it has to be asked again at the latest.
    pub(super) fn next_wake(&self) -> Option<Millis> {
        self.jvm.timers.borrow().values().min().copied()
    }

    /// What its cache has of a node.
    #[cfg(test)]
    pub(super) fn cached(&self, node: &str) -> Option<String> {
        let data = self.jvm.cache.borrow().get(node)?;
        data.text().map(str::to_owned)
    }

    /// What it has still to tell when it is killed.
    pub(super) fn last_words(&self) -> Vec<Wish> {
        self.jvm.leave_out_missed();
        self.jvm.wishes.take()
    }

    /// Whether marks of runs that are over stay as long as the process lives.
    pub(super) fn is_stuck(&self) -> bool {
        self.jvm.stuck.get()
    }

    /// What would break the release, once.
    pub(super) fn broken(&self) -> Option<String> {
        self.jvm.broken.take()
    }
}

impl fmt::Debug for JavaProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Jvm { id, quartz, connected, job_running, executing, timers, .. } = &*self.jvm;
        f.debug_struct("JavaProcess")
            .field("id", id)
            .field("connected", connected)
            .field("job_running", job_running)
            .field("executing", &executing.borrow())
            .field("quartz", &quartz.borrow())
            .field("timers", &timers.borrow().values().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Jvm {
    /// Asks the scheduler to run the job once, now.
    pub(super) fn run_once(&self, why: Request) {
        self.quartz.borrow_mut().request(why);
        self.stir();
    }
}
