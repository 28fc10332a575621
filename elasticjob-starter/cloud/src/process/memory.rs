//! Limits of memory: a group of the kernel where this process may make one, else a limit of the address space.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use elasticjob::log::{info, warn};
use rustix::process::{Pid, Signal, kill_process};

/// How the memory of processes is limited.
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
    },
    AddressSpace,
    Off,
}

/// The files of a version of the groups.
#[derive(Debug)]
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
            Self::Groups { parent, files } => {
                let group = parent.join(name);
                match fs::create_dir(&group) {
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

    /// Removes the group of a process that has ended. One that still has processes stays.
    pub(super) fn remove(&self, name: &str) {
        if let Self::Groups { parent, .. } = self {
            let _ = fs::remove_dir(parent.join(name));
        }
    }
}

/// The groups below that of this process, where it may make some; else why not.
fn groups() -> Result<Memory, String> {
    let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| format!("/proc/self/cgroup: {error}"))?;
    let mut lines = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        Some((parts.next()?, parts.next()?, parts.next()?))
    });
    let (controllers, path) = lines
        .clone()
        .find(|(_, controllers, _)| controllers.split(',').any(|name| name == "memory"))
        .or_else(|| lines.find(|(number, ..)| *number == "0"))
        .map(|(_, controllers, path)| (controllers, path.trim_start_matches('/')))
        .ok_or_else(|| "this process is in no control group for memory".to_owned())?;
    let (mount, files) = if controllers.is_empty() { ("/sys/fs/cgroup", &V2) } else { ("/sys/fs/cgroup/memory", &V1) };
    let parent = Path::new(mount).join(path);
    // Only a try shows it: the rights, and whether the parent hands the controller on.
    let probe = parent.join(format!("elasticjob-probe-{}", std::process::id()));
    fs::create_dir(&probe).map_err(|error| format!("a group below {} cannot be made: {error}", parent.display()))?;
    let limited = fs::write(probe.join(files.limit), (64 * 1_024 * 1_024).to_string());
    let _ = fs::remove_dir(&probe);
    match limited {
        Ok(()) => Ok(Memory::Groups { parent, files }),
        Err(error) => Err(format!("the group {} hands the control of memory not on: {error}", parent.display())),
    }
}
