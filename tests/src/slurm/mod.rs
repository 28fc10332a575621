//! A real Slurm cluster of two nodes on this machine: the daemons of Debian's packages on free ports, all in one folder.

mod nodes;
mod settings;

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use elasticjob_cloud::slurm::{ConnectError, SlurmCarrier, SlurmOptions};

use crate::group::TemporaryFolder;
use crate::ports;
use crate::programs::Missing;

pub use self::settings::NODES;

const START_LIMIT: Duration = Duration::from_secs(60);

/// The daemons and commands that are needed, with their packages.
const PROGRAMS: [(&str, &str); 4] =
    [("munged", "munge"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd"), ("sbatch", "slurm-client")];

/// A cluster. Its daemons and jobs are killed and its folder is gone when this is dropped.
#[derive(Debug)]
pub struct SlurmCluster {
    folder: TemporaryFolder,
    /// What the names of the nodes begin with. The kernel has groups of these names, so that they differ from other clusters.
    nodes: String,
    daemons: Mutex<Vec<(String, Child)>>,
}

impl SlurmCluster {
    /// Looks for what is needed.
    ///
    /// # Errors
    /// [`Missing`] says what was not found, and what to install.
    pub fn find() -> Result<(), Missing> {
        for (program, package) in PROGRAMS {
            find(program).ok_or_else(|| Missing::new(format!("no '{program}'; on Debian install {package}")))?;
        }
        if !settings::is_root() {
            return Err(Missing::new("slurmd limits memory only where root runs it; run the tests as root"));
        }
        Ok(())
    }

    /// Starts a cluster and waits until all nodes are there.
    ///
    /// # Errors
    /// When something is missing, or it does not come up; the logs are in the error.
    pub fn start() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self::find().map_err(|missing| io::Error::other(missing.to_string()))?;
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = TemporaryFolder::new("slurm")?;
            let nodes = format!("ej{}x{number}n", std::process::id());
            let cluster = Self { folder, nodes, daemons: Mutex::default() };
            match cluster.come_up() {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                started => return started.map(|()| cluster),
            }
        }
    }

    fn come_up(&self) -> io::Result<()> {
        let folder = self.folder.path();
        settings::write(folder, &self.nodes)?;
        let at = |name: &str| folder.join(name).display().to_string();
        let munge = [
            "--foreground",
            "--force",
            "--key-file",
            &at("munge.key"),
            "--socket",
            &at("munge.sock"),
            "--pid-file",
            &at("munge.pid"),
            "--log-file",
            &at("munge.log"),
            "--seed-file",
            &at("munge.seed"),
        ];
        self.launch("munged", "munged", &munge)?;
        self.until("munged listens", || folder.join("munge.sock").exists())?;
        self.launch("slurmctld", "slurmctld", &["-D", "-c"])?;
        for node in 0..NODES {
            self.start_node(node)?;
        }
        self.until("all nodes are there", || self.idle_nodes() == NODES)
    }

    /// Starts the daemon of a node.
    ///
    /// # Errors
    /// When the process does not start.
    pub fn start_node(&self, node: usize) -> io::Result<()> {
        let name = self.node(node);
        self.launch(&name, "slurmd", &["-D", "-N", &name])
    }

    /// The name of a node.
    pub fn node(&self, node: usize) -> String {
        format!("{}{}", self.nodes, node + 1)
    }

    /// Kills a node, as a power cut does: its daemon and all processes of its jobs.
    pub fn kill_node(&self, name: &str) {
        self.kill_daemon(name);
        nodes::kill(name);
    }

    /// Kills the daemon of a node alone, or `slurmctld`. Its jobs go on.
    pub fn kill_daemon(&self, name: &str) {
        let mut daemons = self.daemons.lock().unwrap_or_else(PoisonError::into_inner);
        daemons.retain_mut(|(of, child)| {
            if of == name {
                // An error says that it has ended already.
                let _ = child.kill();
                let _ = child.wait();
            }
            of != name
        });
    }

    /// Starts the controller again, with what it had written down.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn resume_controller(&self) -> io::Result<()> {
        self.launch("slurmctld", "slurmctld", &["-D"])?;
        self.until("the controller answers", || self.idle_nodes() > 0)
    }

    /// The settings of the cluster.
    pub fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// A folder that all nodes share.
    pub fn shared(&self) -> &Path {
        self.folder.path()
    }

    /// How a carrier of this cluster works, with a folder of this name.
    pub fn options(&self, name: &str) -> SlurmOptions {
        let mut options = SlurmOptions::new(self.shared().join(name), name);
        options.conf = Some(self.conf());
        options
    }

    /// A carrier with a folder of this name.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn carrier(&self, name: &str) -> Result<SlurmCarrier, ConnectError> {
        SlurmCarrier::connect(self.options(name)).await
    }

    /// What a command of Slurm writes.
    ///
    /// # Panics
    /// When it does not start.
    pub fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).env("SLURM_CONF", self.conf()).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn idle_nodes(&self) -> usize {
        self.ask("sinfo", &["-h", "-N", "-t", "idle", "-o", "%N"]).lines().count()
    }

    fn launch(&self, name: &str, program: &str, arguments: &[&str]) -> io::Result<()> {
        let program = find(program).ok_or_else(|| io::Error::other(format!("no {program}")))?;
        let log = File::options().create(true).append(true).open(self.log_file(name))?;
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.conf()).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn()?;
        self.daemons.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), child));
        Ok(())
    }

    fn until(&self, what: &str, is: impl Fn() -> bool) -> io::Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        while !is() {
            if Instant::now() > deadline {
                return Err(ports::not_served(&format!("not within {START_LIMIT:?}: {what}"), &self.logs()));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// What the daemons wrote.
    pub fn logs(&self) -> String {
        let names =
            ["munged", "slurmctld"].map(str::to_owned).into_iter().chain((0..NODES).map(|node| self.node(node)));
        let texts =
            names.map(|name| format!("{name}:\n{}", fs::read_to_string(self.log_file(&name)).unwrap_or_default()));
        texts.collect()
    }

    fn log_file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.log"))
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        for node in 0..NODES {
            self.kill_node(&self.node(node));
        }
        for daemon in ["slurmctld", "munged"] {
            self.kill_daemon(daemon);
        }
    }
}

/// A program of the system, which has its daemons in folders that are not on the path of every user.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}
