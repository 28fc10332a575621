//! A carrier that can be away.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use elasticjob::ident::{JobName, ShardingItem};

use super::cluster::Cluster;
use crate::carrier::{
    Answer, Carrier, CarrierError, Daemon, DaemonProcess, ItemStates, Launch, LaunchError, LaunchId, LaunchStream,
    Launched, Permit, Stop,
};
use crate::model::{App, CarriedJob, Problem};
use crate::process::{ProcessCarrier, ProcessOptions};

/// A carrier whose engine takes no stops while it is away, no launches and no `DAEMON` jobs while it is unreachable, lists nothing, knows no state and shows no log while it is deaf, and does not answer such a
/// question, or a request to keep processes, while it is silent.
pub(crate) struct Away {
    pub(crate) carrier: ProcessCarrier,
    pub(crate) is_away: AtomicBool,
    /// The stops that it did not take.
    pub(crate) refused: AtomicU32,
    pub(crate) is_deaf: AtomicBool,
    pub(crate) is_silent: AtomicBool,
    /// How often it was asked for its launches.
    pub(crate) asked: AtomicU32,
    /// How often it did not answer what it is to keep.
    pub(crate) unkept: AtomicU32,
    /// How often it was told what to keep, and took it.
    pub(crate) keeps: AtomicU32,
    /// Whether its engine does not have what it was told to keep. It says so once.
    pub(crate) is_changed: AtomicBool,
    /// Whether it takes no launches.
    pub(crate) is_unreachable: AtomicBool,
    /// Whether its launches arrive after the next stop.
    pub(crate) is_late: AtomicBool,
    /// How many launches are on their way.
    pub(crate) on_their_way: AtomicU32,
    /// How many launches it did not take.
    pub(crate) unlaunched: AtomicU32,
    /// The registry center of its scheduler.
    pub(crate) center: OnceLock<String>,
    /// Its name, where it has another one.
    pub(crate) name: OnceLock<String>,
}

impl Away {
    pub(super) fn of(cluster: &Cluster) -> Self {
        Self::of_host(cluster, "work")
    }

    /// With the folder of this host.
    pub(super) fn of_host(cluster: &Cluster, host: &str) -> Self {
        Self::in_folder(cluster.file(host))
    }

    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        let carrier = ProcessCarrier::new(ProcessOptions::new(folder, "tests")).unwrap();
        let (is_away, is_deaf) = (AtomicBool::new(false), AtomicBool::new(false));
        Self {
            carrier,
            is_away,
            refused: AtomicU32::new(0),
            is_deaf,
            is_silent: AtomicBool::new(false),
            asked: AtomicU32::new(0),
            unkept: AtomicU32::new(0),
            keeps: AtomicU32::new(0),
            is_changed: AtomicBool::new(false),
            is_unreachable: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
            on_their_way: AtomicU32::new(0),
            unlaunched: AtomicU32::new(0),
            center: OnceLock::new(),
            name: OnceLock::new(),
        }
    }
}

/// Counts a launch until it has arrived, or is given up.
struct OnItsWay<'a>(&'a AtomicU32);

impl<'a> OnItsWay<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn until_not(is: impl Fn() -> bool) {
    while is() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

impl Carrier for Away {
    fn type_name(&self) -> &str {
        self.name.get().map_or(self.carrier.type_name(), String::as_str)
    }

    fn serve(&self, center: &str) {
        self.center.set(center.to_owned()).unwrap();
    }

    fn check(&self, app: &App, job: &CarriedJob) -> Vec<Problem> {
        self.carrier.check(app, job)
    }

    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError> {
        if self.is_unreachable.load(Ordering::SeqCst) {
            self.unlaunched.fetch_add(1, Ordering::SeqCst);
            return Box::pin(async { Err(LaunchError::NotReached { why: "the engine is away".to_owned() }) });
        }
        if self.is_late.load(Ordering::SeqCst) {
            let mut launch = launch;
            // What is sent asks for no permit any more.
            launch.items.iter_mut().for_each(|item| item.permit = Permit::default());
            return Box::pin(async move {
                let _on_its_way = OnItsWay::new(&self.on_their_way);
                until_not(|| self.is_late.load(Ordering::SeqCst)).await;
                self.carrier.launch(launch).await
            });
        }
        self.carrier.launch(launch)
    }

    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], stop: Stop) -> Answer<'a, ()> {
        if self.is_away.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Box::pin(async { Err(CarrierError::new("stop the items", "the engine is away")) });
        }
        if self.is_late.load(Ordering::SeqCst) {
            return Box::pin(async move {
                let stopped = self.carrier.stop(id, items, stop).await;
                self.is_late.store(false, Ordering::SeqCst);
                until_not(|| self.on_their_way.load(Ordering::SeqCst) > 0).await;
                stopped
            });
        }
        self.carrier.stop(id, items, stop)
    }

    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()> {
        self.carrier.forget(id)
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        if self.is_deaf.load(Ordering::SeqCst) {
            return Box::pin(async { Err(CarrierError::new("read the states", "the engine is away")) });
        }
        self.carrier.states(id)
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.is_silent.load(Ordering::SeqCst) {
            return Box::pin(std::future::pending());
        }
        if self.is_deaf.load(Ordering::SeqCst) {
            return Box::pin(async { Err(CarrierError::new("list the launches", "the engine is away")) });
        }
        self.carrier.launches()
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        self.carrier.watch()
    }

    fn keep(&self, daemon: Daemon) -> Answer<'_, (), LaunchError> {
        if self.is_unreachable.load(Ordering::SeqCst) {
            return Box::pin(async { Err(LaunchError::Refused { why: "the account has no quota left".to_owned() }) });
        }
        if self.is_silent.load(Ordering::SeqCst) {
            self.unkept.fetch_add(1, Ordering::SeqCst);
            return Box::pin(std::future::pending());
        }
        self.keeps.fetch_add(1, Ordering::SeqCst);
        self.carrier.keep(daemon)
    }

    fn is_kept<'a>(&'a self, _: &'a Daemon) -> Answer<'a, bool> {
        let is_changed = self.is_changed.swap(false, Ordering::SeqCst);
        Box::pin(async move { Ok(!is_changed) })
    }

    fn kept<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        self.carrier.kept(job)
    }

    fn log<'a>(&'a self, id: &'a LaunchId, item: ShardingItem, most: usize) -> Answer<'a, Option<String>> {
        if self.is_deaf.load(Ordering::SeqCst) {
            return Box::pin(async { Err(CarrierError::new("read the log", "the engine is away")) });
        }
        self.carrier.log(id, item, most)
    }
}
