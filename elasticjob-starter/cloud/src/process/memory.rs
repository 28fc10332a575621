//! Limits of memory: a group of the kernel where this process may make one, else a limit of the address space.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::log::{info, warn};
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Handle;
use tokio::time::sleep;

/// How often the removal of a group whose processes were killed is tried again.
const TRIES: u32 = 10;

/// The time between two tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// The way in which the memory of processes is limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryLimit {
    /// By a group of the kernel where this process may make one, else by the address space.
    #[default]
    Auto,
    /// By the address space. Programs that reserve much more than they use, as those on a JVM or of Go, do not start.
    AddressSpace,
    /// Not at all.
    Off,
}

/// How the memory is limited on this host.
#[derive(Debug, Clone)]
pub(super) enum Memory {
    /// A group of the kernel below this one.
    Groups {
        parent: PathBuf,
        files: &'static Files,
        in_use: InUse,
    },
    AddressSpace,
    Off,
}

/// The names of the groups that processes have or get. The next attempt of an item has the group of the one before, whose removal may
/// still be tried: it must not hit the group before the keeper is in it.
#[derive(Debug, Clone, Default)]
pub(super) struct InUse(Arc<Mutex<BTreeSet<String>>>);

impl InUse {
    /// Makes the group of this name. From now on it is in use.
    fn make<T>(&self, name: &str, make: impl FnOnce() -> T) -> T {
        let mut names = self.lock();
        names.insert(name.to_owned());
        make()
    }

    /// The group of this name is not in use any more.
    fn end(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Removes the group of this name, where it is not in use again.
    fn remove<T>(&self, name: &str, remove: impl FnOnce() -> T) -> Option<T> {
        let names = self.lock();
        (!names.contains(name)).then(remove)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of a version of the groups.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Files {
    limit: &'static str,
    with_swap: &'static str,
    events: &'static str,
}

const V1: Files =
    Files { limit: "memory.limit_in_bytes", with_swap: "memory.memsw.limit_in_bytes", events: "memory.oom_control" };
const V2: Files = Files { limit: "memory.max", with_swap: "memory.swap.max", events: "memory.events" };

/// The limit of one process, as its keeper sets it.
#[derive(Debug, Default)]
pub(super) struct Limit {
    pub(super) kilobytes: Option<u64>,
    pub(super) cgroup: Option<PathBuf>,
    pub(super) events: Option<PathBuf>,
}

impl Memory {
    /// What this host lets the process do.
    pub(super) fn of_host(wanted: MemoryLimit) -> Self {
        match wanted {
            MemoryLimit::Off => Self::Off,
            MemoryLimit::AddressSpace => Self::AddressSpace,
            MemoryLimit::Auto => match groups() {
                Ok(groups) => {
                    if let Self::Groups { parent, .. } = &groups {
                        info!("the memory of each process is limited by a control group below {}", parent.display());
                    }
                    groups
                }
                Err(why) => {
                    warn!(
                        "the memory of each process is limited by its address space (ulimit -v), as no control groups can be \
                         made: {why}; programs on a JVM or of Go do not start so: give --memory-limit off, or let the scheduler \
                         make control groups"
                    );
                    Self::AddressSpace
                }
            },
        }
    }

    /// Whether a process that needs too much is told from one that fails otherwise.
    pub(super) fn tells(&self) -> bool {
        matches!(self, Self::Groups { .. })
    }

    /// Prepares the limit for the process of this name.
    pub(super) fn limit(&self, name: &str, megabytes: u64) -> io::Result<Limit> {
        match self {
            Self::Off => Ok(Limit::default()),
            Self::AddressSpace => Ok(Limit { kilobytes: Some(megabytes * 1_024), ..Limit::default() }),
            Self::Groups { parent, files, in_use } => {
                let group = parent.join(name);
                match in_use.make(name, || fs::create_dir(&group)) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                }
                let bytes = megabytes * 1_024 * 1_024;
                fs::write(group.join(files.limit), bytes.to_string())?;
                // Kernels without accounting of swap do not have the file.
                let swap = if files.with_swap == V2.with_swap { 0 } else { bytes };
                let _ = fs::write(group.join(files.with_swap), swap.to_string());
                Ok(Limit { kilobytes: None, events: Some(group.join(files.events)), cgroup: Some(group) })
            }
        }
    }

    /// Kills what is in the group of the process, also what left its process group.
    pub(super) fn kill(&self, name: &str) {
        let Self::Groups { parent, .. } = self else { return };
        let members = fs::read_to_string(parent.join(name).join("cgroup.procs")).unwrap_or_default();
        for id in members.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw) {
            // An error says that it has ended.
            let _ = kill_process(id, Signal::KILL);
        }
    }

    /// Removes the group of a process that has ended. What was killed a moment ago may still be there: it has a second to go. A
    /// group that has processes then stays.
    pub(super) fn remove(&self, name: &str) {
        let Self::Groups { parent, in_use, .. } = self else { return };
        let (group, name, in_use) = (parent.join(name), name.to_owned(), in_use.clone());
        in_use.end(&name);
        let is_busy = move || {
            let removed = in_use.remove(&name, || fs::remove_dir(&group));
            matches!(removed, Some(Err(error)) if error.kind() == ErrorKind::ResourceBusy)
        };
        if let (true, Ok(runtime)) = (is_busy(), Handle::try_current()) {
            runtime.spawn(async move {
                for _ in 0..TRIES {
                    sleep(BETWEEN_TRIES).await;
                    if !is_busy() {
                        break;
                    }
                }
            });
        }
    }
}

/// The name of the group that a scheduler is in by itself, as `DelegateSubgroup=` of systemd makes it: the groups of the processes
/// stand beside it.
const OF_SCHEDULER: &str = "scheduler";

/// How often this process tried whether it may make a group.
static PROBES: AtomicU32 = AtomicU32::new(0);

/// The groups that this process may make; else why not.
fn groups() -> Result<Memory, String> {
    let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| format!("/proc/self/cgroup: {error}"))?;
    let place = Place::of(&own).ok_or_else(|| "this process is in no control group for memory".to_owned())?;
    let Place { parent, files, is_beside } = place;
    if is_beside {
        // Version 2 hands a control on only where it is said, and only below a group without processes.
        let hand_on = parent.join("cgroup.subtree_control");
        fs::write(&hand_on, "+memory").map_err(|error| format!("{}: {error}", hand_on.display()))?;
    }
    // Only a try shows it: the rights, and whether the parent hands the controller on. Two carriers of a process may try at a time.
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let probe = parent.join(format!("elasticjob-probe-{}-{number}", std::process::id()));
    fs::create_dir(&probe).map_err(|error| format!("a group below {} cannot be made: {error}", parent.display()))?;
    let limited = fs::write(probe.join(files.limit), (64 * 1_024 * 1_024).to_string());
    let _ = fs::remove_dir(&probe);
    match limited {
        Ok(()) => Ok(Memory::Groups { parent, files, in_use: InUse::default() }),
        Err(error) => Err(format!("the group {} hands the control of memory not on: {error}", parent.display())),
    }
}

/// Where the groups of the processes would be.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    parent: PathBuf,
    files: &'static Files,
    /// They are beside the group of this process, not below it.
    is_beside: bool,
}

impl Place {
    /// By the groups of this process, as `/proc/self/cgroup` has them.
    fn of(own: &str) -> Option<Self> {
        let mut lines = own.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            Some((parts.next()?, parts.next()?, parts.next()?))
        });
        let (_, controllers, path) = lines
            .clone()
            .find(|(_, controllers, _)| controllers.split(',').any(|name| name == "memory"))
            .or_else(|| lines.find(|(number, ..)| *number == "0"))?;
        let path = Path::new(path.trim_start_matches('/'));
        if !controllers.is_empty() {
            return Some(Self { parent: Path::new("/sys/fs/cgroup/memory").join(path), files: &V1, is_beside: false });
        }
        let own = Path::new("/sys/fs/cgroup").join(path);
        let is_beside = path.ends_with(OF_SCHEDULER);
        let parent = if is_beside { own.parent().map(Path::to_owned)? } else { own };
        Some(Self { parent, files: &V2, is_beside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_are_below_that_of_the_scheduler_or_beside_one_that_it_has_for_itself() {
        let place =
            |own: &str| Place::of(own).map(|it| (it.parent.display().to_string(), it.files.limit, it.is_beside));
        let unit = "/sys/fs/cgroup/system.slice/jobs.service";
        let below = |parent: &str, files: &Files| Some((parent.to_owned(), files.limit, false));
        assert_eq!(place("0::/system.slice/jobs.service\n"), below(unit, &V2));
        let beside = Some((unit.to_owned(), V2.limit, true));
        assert_eq!(place("0::/system.slice/jobs.service/scheduler\n"), beside);
        assert_eq!(place("0::/\n"), below("/sys/fs/cgroup/", &V2));
        assert_eq!(place("4:memory:/jobs/scheduler\n0::/\n"), below("/sys/fs/cgroup/memory/jobs/scheduler", &V1));
        assert_eq!(place("8:pids:/\n"), None);
    }

    #[test]
    fn a_group_that_is_in_use_again_is_not_removed() {
        let in_use = InUse::default();
        in_use.make("a", || ());
        in_use.end("a");
        assert_eq!(in_use.remove("a", || 1), Some(1));
        in_use.make("a", || ());
        assert_eq!((in_use.remove("a", || 1), in_use.remove("b", || 1)), (None, Some(1)));
    }

    #[test]
    fn carriers_that_look_at_the_same_time_find_the_same() {
        let look = || (0..50).map(|_| groups().is_ok()).collect::<Vec<bool>>();
        let found: Vec<bool> = std::thread::scope(|scope| {
            let looks: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
            looks.into_iter().flat_map(|look| look.join().unwrap()).collect()
        });
        assert!(found.iter().all(|may| *may == found[0]), "{found:?}");
    }
}
