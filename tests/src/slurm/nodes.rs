//! The processes of a node's jobs, by the groups that the kernel has for the node.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Kills all processes of a node's jobs, with the programs of Slurm that look after them.
pub(super) fn kill(node: &str) {
    let groups = groups_of(node);
    for _ in 0..20 {
        let processes: Vec<String> = groups.iter().flat_map(|group| processes_of(group)).collect();
        if processes.is_empty() {
            break;
        }
        // An error says that they have ended.
        let _ = Command::new("kill").arg("-KILL").args(&processes).stderr(Stdio::null()).status();
        thread::sleep(Duration::from_millis(20));
    }
    groups.iter().for_each(|group| remove(group));
}

/// The groups of a node, in each hierarchy that the system has.
fn groups_of(node: &str) -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let name = format!("slurm_{node}");
    let hierarchies = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let places = hierarchies
        .chain([root.to_owned()])
        .flat_map(|place| [place.join(&name), place.join("system.slice").join(&name)]);
    places.filter(|group| group.is_dir()).collect()
}

fn processes_of(group: &Path) -> Vec<String> {
    let own = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let mut all: Vec<String> = own.lines().map(str::to_owned).collect();
    all.extend(below(group).iter().flat_map(|group| processes_of(group)));
    all
}

fn below(group: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(group).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).collect()
}

/// The kernel removes only groups that are empty, the inner ones first.
fn remove(group: &Path) {
    below(group).iter().for_each(|group| remove(group));
    let _ = fs::remove_dir(group);
}
