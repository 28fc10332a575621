//! The seam to what carries processes: the host itself, Kubernetes, Slurm, or an implementation of your own.
//!
//! The scheduler decides when an item runs and that it runs once. A carrier decides where, keeps to the limits, and tells
//! what becomes of it. It keeps its own truth: a scheduler that dies forgets what it launched, and the next one asks the
//! carrier. So a carrier has to know its launches by their [ids](LaunchId), which are the same in every scheduler.
//!
//! Every carrier passes the cases of the module `suite` (feature `testing`).

mod daemon;
mod error;
mod launch;
pub(crate) mod output;
mod permit;
mod state;
mod stop;
#[cfg(any(test, feature = "testing"))]
pub mod suite;
mod watch;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use elasticjob::ident::{JobName, ShardingItem};

use crate::model::{App, CarriedJob, Problem};

pub use daemon::{Daemon, DaemonProcess};
pub use elasticjob::carried::{ATTEMPT, CARRIED, Carried, CarriedCenter, CarriedSchedule};
pub use error::{CarrierError, LaunchError};
pub use launch::{Launch, LaunchId, LaunchItem, Launched, UnknownLaunchId};
pub(crate) use launch::{digest, job_token};
pub use permit::Permit;
pub use state::{ItemState, LostPlace, Outcome};
pub use stop::{Stop, StopCause};
pub use watch::{EventSender, LaunchEvent, LaunchStream};

/// A future answer of a carrier. Dropping it does not take the request back.
pub type Answer<'a, T, E = CarrierError> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// The items of a launch, each with its state.
pub type ItemStates = BTreeMap<ShardingItem, ItemState>;

/// Carries processes.
///
/// All calls are idempotent: a scheduler repeats a call whose answer was lost. Several schedulers may use carriers of the
/// same engine at the same time.
pub trait Carrier: Send + Sync + 'static {
    /// Its name: `PROCESS`, `KUBERNETES`, `SLURM`, or one of your own.
    fn type_name(&self) -> &str;

    /// Where its launches are kept: two carriers with the same place know the same launches. Default: the name, for carriers of
    /// an engine that all schedulers share.
    fn place(&self) -> String {
        self.type_name().to_owned()
    }

    /// The [place](Self::place) that all schedulers of a registry center have to share, as one with another place would not know what the
    /// others run, and would count it as lost. A scheduler whose carrier says another one does not start. Default: none, for carriers
    /// that cannot differ in it or, as `PROCESS`, have a place for each host.
    fn shared_place(&self) -> Option<String> {
        None
    }

    /// From now on the schedulers of this registry center use it. The text is the same for all of them, and another one for other
    /// registry centers. A carrier that finds launches of another registry center with the same namespace when it is asked for
    /// [all of them](Self::launches) says so in the log: the names of both can be the same. Must not block. Default: nothing.
    fn serve(&self, center: &str) {
        let _ = center;
    }

    /// What it cannot carry of a job, all of it. Asked when a job is registered. Must not block.
    fn check(&self, app: &App, job: &CarriedJob) -> Vec<Problem>;

    /// Launches the items. Those that the carrier knows already under this id, running or ended, are *adopted*: nothing is
    /// started for them. A later launch may name other items of the same id.
    ///
    /// An item whose [permit](Permit) is withdrawn is left out of the answer, and not started. A carrier that starts processes itself
    /// asks again right before it starts one, however long the item waited, and has the item as
    /// [let go](ItemState::LetGo) from then on: the next launch of it starts it. What an engine that all
    /// schedulers share has accepted stays there: the next scheduler adopts it. Another launch of the item brings another permit.
    ///
    /// The call is not cut off where the run ends that it is for, and later runs of these items wait for its answer: it has to come
    /// within a limited time. What takes long, as a download, ends when all [permits](Launch::withdrawn) are withdrawn.
    ///
    /// The answer says what was accepted, not that it runs: an item may wait for room. Once it is given,
    /// [`states`](Self::states) of this carrier has the items.
    ///
    /// # Errors
    /// See [`LaunchError`]. After [`LaunchError::Unknown`] the scheduler calls again.
    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError>;

    /// Ends items: asks their processes to end, and kills them after the grace. The answer does not wait for the end: it comes
    /// as an event. Items that are unknown or ended are no error.
    ///
    /// A carrier that can notes the cause of the first stop before it asks the process to end, and tells it with the
    /// [end](ItemState::Ended): so a scheduler that adopts the item tells the same cause.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer for one of the items. The others are stopped all the same.
    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], stop: Stop) -> Answer<'a, ()>;

    /// Deletes everything that the carrier has of a launch, its logs too. Called when no item of it waits or runs, and
    /// the job is removed or enough later launches exist. What runs nevertheless is killed, and not started again. A launch that is unknown is no error.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()>;

    /// The items of a launch. `None` when the carrier does not know it: it was never launched, or is forgotten.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer. Then nothing may be concluded.
    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>>;

    /// All launches that the carrier knows, in no particular order.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    fn launches(&self) -> Answer<'_, Vec<LaunchId>>;

    /// The launches of a job that the carrier knows, in no particular order. Default: those among all of them.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    fn launches_of<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<LaunchId>> {
        Box::pin(async move { Ok(self.launches().await?.into_iter().filter(|id| id.job == *job).collect()) })
    }

    /// The changes of all launches from now on. The first event is [`LaunchEvent::Gap`]: read the states that matter now.
    fn watch(&self) -> Box<dyn LaunchStream>;

    /// Makes so many processes of a `DAEMON` job be there, with these settings, from now on and until it is called again:
    /// a process that ends is started again, after a pause that grows when processes end soon. With none, all of them are
    /// ended.
    ///
    /// # Errors
    /// See [`LaunchError`].
    fn keep(&self, daemon: Daemon) -> Answer<'_, (), LaunchError>;

    /// Whether the engine still has what this carrier was told to [keep](Self::keep). An operator may have removed or changed it, or a
    /// request that an earlier scheduler had sent arrives late: then the scheduler says again what is to be kept. It asks from time
    /// to time. Default: yes, for carriers that look after the processes themselves.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer. Then nothing may be concluded.
    fn is_kept<'a>(&'a self, daemon: &'a Daemon) -> Answer<'a, bool> {
        let _ = daemon;
        Box::pin(async { Ok(true) })
    }

    /// Removes what the carrier has kept of applications that are not among these, which are all that are registered, and that no
    /// process uses. It is called from time to time. Default: nothing, for carriers that keep nothing of applications.
    ///
    /// # Errors
    /// [`CarrierError`] when it could not be removed.
    fn tidy<'a>(&'a self, apps: &'a [Arc<App>]) -> Answer<'a, ()> {
        let _ = apps;
        Box::pin(async { Ok(()) })
    }

    /// Stops looking after the processes of a `DAEMON` job, without ending them: another scheduler of the same place does so
    /// from now on. Default: nothing, for carriers whose engine looks after them.
    fn release(&self, job: &JobName) {
        let _ = job;
    }

    /// The processes of a `DAEMON` job. Empty when none are kept.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    fn kept<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<DaemonProcess>>;

    /// The last `most` bytes that an item wrote to its standard output and standard error, in that order where the carrier
    /// keeps them apart. They are counted as the item wrote them, from the beginning of a character on; a byte that is no text is one
    /// character. `None` when the carrier has none of it.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    fn log<'a>(&'a self, id: &'a LaunchId, item: ShardingItem, most: usize) -> Answer<'a, Option<String>>;

    /// The same of a process of a `DAEMON` job, by its number from 0. Default: none, for carriers that keep no such logs.
    ///
    /// # Errors
    /// [`CarrierError`] when the engine did not answer.
    fn daemon_log<'a>(&'a self, job: &'a JobName, index: u32, most: usize) -> Answer<'a, Option<String>> {
        let _ = (job, index, most);
        Box::pin(async { Ok(None) })
    }
}
