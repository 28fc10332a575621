//! The programs of a database server, and the user they run as.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian installs versions of PostgreSQL, none of which is on PATH.
const DEBIAN_POSTGRESQL: &str = "/usr/lib/postgresql";

/// The program of that name, if it is installed.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let on_path = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let sbin = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    on_path.chain(sbin).chain(debian_versions()).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// The newest first.
fn debian_versions() -> Vec<PathBuf> {
    let entries = fs::read_dir(DEBIAN_POSTGRESQL).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    versions.reverse();
    versions
}

/// Whether this process is root, which database servers refuse to run as.
fn is_root() -> io::Result<bool> {
    Ok(fs::metadata("/proc/self")?.uid() == 0)
}

/// A command that runs as `user` where this process is root, with nothing to read.
pub(super) fn command(program: &Path, user: &str) -> io::Result<Command> {
    let mut command = if is_root()? {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).arg("--clear-groups").arg(program);
        command
    } else {
        Command::new(program)
    };
    command.stdin(Stdio::null());
    Ok(command)
}

/// Gives a folder to `user` where this process is root.
pub(super) fn give(folder: &Path, user: &str) -> io::Result<()> {
    if !is_root()? {
        return Ok(());
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let ids = users.lines().find_map(|line| {
        let mut parts = line.split(':');
        if parts.next()? != user {
            return None;
        }
        let mut ids = parts.skip(1).map_while(|id| id.parse().ok());
        Some((ids.next()?, ids.next()?))
    });
    let (owner, group) =
        ids.ok_or_else(|| io::Error::other(format!("there is no user {user}, whom its package makes")))?;
    chown(folder, Some(owner), Some(group))
}

/// Runs a command to its end; its output goes into the error.
pub(super) fn run(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(io::Error::other(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&text))))
}
