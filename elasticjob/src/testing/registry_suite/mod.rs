//! Cases of what every registry center must do; each back end runs them.
//!
//! A back end implements [`Backend`] and runs all of [`cases`], each on a fresh registry. A case panics where the back end
//! does something else.
// These are tests, in the library only so that each back end can run them.
#![allow(clippy::unwrap_used)]

mod memory;
mod order;
mod refusals;
mod sessions;
mod verbs;
mod watches;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use self::memory::MemoryBackend;
use crate::registry::{
    CommitError, Committed, CreateMode, RegistryCenter, SessionId, SessionState, Transaction, WatchEvent, WatchStream,
};

/// How long anything that must happen is waited for.
const DEADLINE: Duration = Duration::from_secs(30);

/// A future of a back end.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A registry that several clients can be connected to.
pub trait Backend: Send + Sync {
    /// Connects one more client, whose session is live when this is ready.
    fn connect(&self) -> Pending<'_, Member>;

    /// Whether reads may be answered by another server than the one that keeps the sessions.
    fn is_remote(&self) -> bool;
}

/// A client of a registry and the means to disturb it.
pub struct Member {
    /// The client.
    pub center: Box<dyn RegistryCenter>,
    /// The link between it and the registry.
    pub link: Box<dyn Link>,
}

/// The link between a client and the registry.
pub trait Link: Send + Sync {
    /// Cuts the connection. The session lives on for a while.
    fn cut(&self) -> Pending<'_, ()>;

    /// Lets the connection come back.
    fn mend(&self) -> Pending<'_, ()>;

    /// Ends the session at the registry while the connection is cut.
    fn expire(&self) -> Pending<'_, ()>;
}

/// One thing that a registry center must do.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name, a sentence.
    pub name: &'static str,
    /// Plays it on a fresh registry.
    pub play: fn(Arc<dyn Backend>) -> Pending<'static, ()>,
}

macro_rules! cases {
    ($($module:ident: $($case:ident),+;)+) => {
        /// All cases.
        pub fn cases() -> Vec<Case> {
            vec![$($(Case { name: stringify!($case), play: |backend| Box::pin($module::$case(backend)) }),+),+]
        }
    };
}

cases! {
    verbs:
        every_verb_does_what_it_says,
        a_committed_transaction_tells_what_each_operation_did,
        sequential_names_count_the_children_ever_created,
        names_may_have_any_letters,
        large_data_pass_and_too_large_data_are_refused_without_harm,
        requests_are_counted;
    refusals:
        every_refusal_names_its_operation_and_leaves_nothing,
        impossible_paths_are_refused,
        a_guard_protects_what_follows_it,
        of_many_transactions_at_once_each_has_the_answer_of_its_own;
    order:
        transactions_are_applied_in_the_order_in_which_they_are_made,
        a_read_shows_what_is_left_of_a_transaction_that_was_given_up,
        events_of_own_changes_are_there_with_the_answer,
        events_of_foreign_changes_are_there_with_the_answer_that_shows_them,
        events_come_in_the_order_of_the_changes;
    watches:
        a_watch_begins_with_a_gap_and_hears_everything_below_its_node,
        a_watch_on_a_missing_node_hears_of_its_creation,
        watches_of_one_client_do_not_disturb_each_other,
        watches_of_two_clients_hear_the_same,
        a_watch_of_a_node_alone_hears_nothing_of_what_is_below_it,
        watches_of_parts_take_the_place_of_one_of_all_and_back_without_a_loss,
        a_watch_of_a_node_alone_outlives_a_cut_connection;
    sessions:
        ephemeral_nodes_go_with_a_closed_session,
        a_closed_registry_center_fails_and_ends_its_watches,
        what_nobody_awaits_does_not_keep_a_session,
        a_transaction_proves_the_session_just_before_it_was_sent,
        a_read_proves_nothing_where_another_server_than_the_leader_answers,
        a_cut_connection_suspends_and_the_session_lives_on,
        a_watch_made_while_cut_off_comes_into_place_later,
        an_expired_session_is_replaced_by_another,
        a_transaction_made_for_another_session_is_not_committed;
}

/// A transaction of one operation.
fn one(build: impl FnOnce(&mut Transaction) -> usize) -> Transaction {
    let mut transaction = Transaction::new();
    build(&mut transaction);
    transaction
}

async fn create(center: &dyn RegistryCenter, path: &str, mode: CreateMode) -> Result<Committed, CommitError> {
    center.commit(one(|t| t.create(path, "", mode))).await
}

async fn persist(center: &dyn RegistryCenter, paths: &[&str]) {
    for path in paths {
        create(center, path, CreateMode::Persistent).await.unwrap();
    }
}

async fn delete(center: &dyn RegistryCenter, path: &str) {
    center.commit(one(|t| t.delete(path, None))).await.unwrap();
}

async fn children(center: &dyn RegistryCenter, path: &str) -> Option<Vec<String>> {
    let mut names = center.children(path).await.unwrap();
    names.iter_mut().for_each(|names| names.sort());
    names
}

/// Every event that is there now.
fn there(stream: &mut dyn WatchStream) -> Vec<WatchEvent> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut events = Vec::new();
    while let Poll::Ready(Some(event)) = stream.poll_next(&mut cx) {
        events.push(event);
    }
    events
}

async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("not within {} s: {what}", DEADLINE.as_secs()),
    }
}

async fn next(stream: &mut dyn WatchStream) -> Option<WatchEvent> {
    in_time("the next event", poll_fn(|cx| stream.poll_next(cx))).await
}

/// Reads over what is before the next gap, and tells it.
async fn until_gap(stream: &mut dyn WatchStream) -> Vec<WatchEvent> {
    let mut before = Vec::new();
    loop {
        match next(stream).await {
            Some(WatchEvent::Gap) => return before,
            Some(event) => before.push(event),
            None => panic!("the watch ended"),
        }
    }
}

/// A watch of a node alone that is in place.
async fn watch_node(center: &dyn RegistryCenter, path: &str) -> Box<dyn WatchStream> {
    let mut stream = center.watch_node(path);
    assert_eq!(until_gap(&mut *stream).await, [], "events before the first gap");
    stream
}

/// A watch that is in place.
async fn watch(center: &dyn RegistryCenter, path: &str) -> Box<dyn WatchStream> {
    let mut stream = center.watch(path);
    assert_eq!(until_gap(&mut *stream).await, [], "events before the first gap");
    stream
}

async fn connected(center: &dyn RegistryCenter) -> SessionId {
    let mut session = center.session();
    let is_connected = |state: &SessionState| matches!(state, SessionState::Connected { .. });
    match *in_time("connected", session.wait_for(is_connected)).await.unwrap() {
        SessionState::Connected { id, .. } => id,
        state => panic!("{state:?} is not connected"),
    }
}

async fn suspended(center: &dyn RegistryCenter) {
    let mut session = center.session();
    let is_suspended = |state: &SessionState| !matches!(state, SessionState::Connected { .. });
    in_time("suspended", session.wait_for(is_suspended)).await.unwrap();
}

fn created(path: &str) -> WatchEvent {
    WatchEvent::Created(path.into())
}

fn changed(path: &str) -> WatchEvent {
    WatchEvent::Changed(path.into())
}

fn deleted(path: &str) -> WatchEvent {
    WatchEvent::Deleted(path.into())
}
