//! The events that an engine takes.

use crate::clock::Now;
use crate::fire::{ItemEnd, TraceParent};
use std::time::Duration;

use super::dependencies::ParentView;
use crate::ident::{JobName, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::mirror::Watched;
use crate::registry::{CommitError, Committed, NodeData, RegistryError, SessionId, SessionState, WatchEvent};

/// Tells the rounds of an engine apart.
pub type RoundId = u64;

/// Tells manual triggers apart until they are answered.
pub type TriggerId = u64;

/// Something happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// Time passed; nothing else.
    Tick,
    /// The session of the registry center has this state now.
    Session(SessionState),
    /// The leader of the registry center held the session: a transaction sent then was answered later.
    Proven {
        /// The session.
        session: SessionId,
        /// When the transaction was sent, by both clocks.
        at: Now,
    },
    /// Answer to [`Prove`](super::Action::Prove), one for each: a proof as above, also one from before the question, or none.
    ProofAnswered(Option<(SessionId, Now)>),
    /// The watch of the job's nodes delivered something.
    Watch(WatchEvent),
    /// A watch of a part of the job is in place. Events may have been missed before. That of the whole job says so with a
    /// [`WatchEvent::Gap`], see [`Self::placed`].
    Watching(Watched),
    /// Answer to [`List`](super::Action::List), one for each path.
    Listed {
        /// The tag of the question.
        generation: u32,
        /// The directory.
        path: JobPath,
        /// Its children, `None` when it does not exist.
        children: Result<Option<Vec<String>>, RegistryError>,
    },
    /// Answer to [`Read`](super::Action::Read), one for each path.
    Read {
        /// The tag of the question.
        generation: u32,
        /// The node.
        path: JobPath,
        /// Its data, `None` when it does not exist.
        node: Result<Option<NodeData>, RegistryError>,
    },
    /// Answer to [`Commit`](super::Action::Commit).
    Committed(Result<Committed, CommitError>),
    /// An operator or the program asks for a run on every enabled instance, with the trace context of the caller.
    Trigger(TriggerId, Option<TraceParent>),
    /// The run of an item is over: its future is gone.
    ItemEnded {
        /// The item.
        item: ShardingItem,
        /// How it ended.
        end: ItemEnd,
    },
    /// The call that a round had under way is over: its future is gone.
    ListenersCalled {
        /// The round.
        round: RoundId,
    },
    /// News of the registry about a job that is [followed](super::Action::FollowJobs).
    Parent {
        /// The job.
        job: JobName,
        /// Boxed, as it is rare and would make every event larger.
        view: Box<ParentView>,
    },
    /// Leave the group.
    Shutdown {
        /// How long running items may go on before they are cut off.
        grace: Duration,
    },
    /// Leave the group at once, to join it again: a manual trigger waits for that.
    Restart,
}

impl Event {
    /// A watch says that it is in place.
    pub fn placed(watched: &Watched) -> Self {
        if *watched == Watched::job() { Self::Watch(WatchEvent::Gap) } else { Self::Watching(watched.clone()) }
    }
}
