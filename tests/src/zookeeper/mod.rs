//! Real ZooKeeper servers on free ports in temporary folders: one alone, or an ensemble.

mod backend;
mod ensemble;
mod secure;

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use self::backend::ZookeeperBackend;
pub use self::ensemble::{EnsembleSettings, MEMBERS, ZookeeperEnsemble};
pub use self::secure::{SecureServer, Stores};
use crate::frozen::wait_frozen;
use crate::ports;
use crate::programs::{self, Missing};

/// Overrides where the classes are: a Java class path.
pub const CLASSPATH_VARIABLE: &str = "ELASTICJOB_TEST_ZOOKEEPER_CLASSPATH";

/// Where Debian installs them. Not the whole folder: other loggers in it keep the server from starting. Those of netty are
/// what the first one needs for TLS and does not name itself.
const DEBIAN_JARS: [&str; 4] = [
    "/usr/share/java/zookeeper.jar",
    "/usr/share/java/slf4j-simple.jar",
    "/usr/share/java/netty-codec.jar",
    "/usr/share/java/netty-resolver.jar",
];

const START_LIMIT: Duration = Duration::from_secs(60);

/// How many lines of its log the error of a server that does not serve shows.
const LOG_LINES: usize = 40;

/// Warnings and elections, but not each client that comes while no server leads.
const LOG_LEVELS: [&str; 4] = [
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.quorum=info",
    "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=error",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
];

/// How often the server looks for sessions that are over. Sessions can ask for twice this at least.
const TICK_MILLISECONDS: u32 = 200;

/// The longest session that the server grants: the default of clients.
const MAX_SESSION_TIMEOUT_MILLISECONDS: u32 = 60_000;

/// What is needed to start servers.
#[derive(Debug, Clone)]
pub struct Installation {
    java: PathBuf,
    classpath: String,
}

/// A server. It is killed and its data are gone when this is dropped.
#[derive(Debug)]
pub struct ZookeeperServer {
    installation: Installation,
    folder: PathBuf,
    port: u16,
    /// Arguments of the virtual machine beside the usual ones.
    options: Vec<String>,
    process: Mutex<Option<Child>>,
}

impl ZookeeperServer {
    /// Looks for Java and ZooKeeper.
    ///
    /// # Errors
    /// [`Missing`] says what was not found, and what to install.
    pub fn find() -> Result<Installation, Missing> {
        let java = programs::find("java", "default-jre-headless")?;
        let classpath = match env::var(CLASSPATH_VARIABLE) {
            Ok(classpath) => classpath,
            Err(_) => match DEBIAN_JARS.iter().find(|jar| !Path::new(jar).exists()) {
                None => DEBIAN_JARS.join(":"),
                Some(jar) => {
                    let cure = "on Debian install libzookeeper-java, libslf4j-java and libnetty-java";
                    return Err(Missing::new(format!("no {jar}; {cure}, elsewhere set {CLASSPATH_VARIABLE}")));
                }
            },
        };
        Ok(Installation { java, classpath })
    }

    /// Starts a server and waits until it serves.
    ///
    /// # Errors
    /// When nothing is installed, or the server does not come up; its log is in the error.
    pub fn start() -> io::Result<Self> {
        Self::with_memory(256)
    }

    /// The same with a heap of so many MiB: a server keeps its last 500 requests, which are long where many jobs fire together.
    ///
    /// # Errors
    /// As of [`Self::start`].
    pub fn with_memory(mebibytes: u32) -> io::Result<Self> {
        loop {
            let server = Self::new(vec![format!("-Xmx{mebibytes}m")])?;
            server.configure(&Self::own_settings())?;
            match server.resume() {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                started => return started.map(|()| server),
            }
        }
    }

    /// What a server alone has beside the settings of all.
    fn own_settings() -> [String; 2] {
        [format!("tickTime={TICK_MILLISECONDS}"), format!("maxSessionTimeout={MAX_SESSION_TIMEOUT_MILLISECONDS}")]
    }

    /// A server that does not run yet, on a port of its own.
    fn new(options: Vec<String>) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let installation = Self::find().map_err(|missing| io::Error::other(missing.to_string()))?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("elasticjob-zookeeper-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self { installation, folder, port: ports::free()?, options, process: Mutex::new(None) })
    }

    /// Changes settings of a server that runs alone. They count when it starts the next time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn reconfigure(&self, changed: &[&str]) -> io::Result<()> {
        let changed = changed.iter().map(|line| (*line).to_owned());
        // Of a key that stands twice the last line counts.
        self.configure(&Self::own_settings().into_iter().chain(changed).collect::<Vec<_>>())
    }

    /// Writes its settings: those of all servers, and its own.
    fn configure(&self, own: &[String]) -> io::Result<()> {
        let common = [
            format!("dataDir={}", self.data().display()),
            "clientPortAddress=127.0.0.1".into(),
            format!("clientPort={}", self.port),
            "admin.enableServer=false".into(),
            "4lw.commands.whitelist=*".into(),
            "maxClientCnxns=0".into(),
        ];
        fs::write(self.folder.join("zoo.cfg"), [&common[..], own].concat().join("\n"))
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process().as_ref().map(Child::id)
    }

    /// `host:port`.
    pub fn connect_string(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills the server with SIGKILL; its data stay.
    pub fn stop(&self) {
        if let Some(mut process) = self.process().take() {
            // An error says that it has ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts the server again after [`Self::stop`], with its data and on its port, and waits until it serves.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn resume(&self) -> io::Result<()> {
        self.launch()?;
        self.wait_ready()
    }

    /// Starts the process, which may not serve before others run.
    fn launch(&self) -> io::Result<()> {
        let log = File::create(self.folder.join("server.log"))?;
        let child = Command::new(&self.installation.java)
            .args(&self.options)
            .arg("-XX:TieredStopAtLevel=1")
            .args(LOG_LEVELS)
            // The data must outlive the process, not the machine.
            .args(["-Dzookeeper.forceSync=no", "-Dzookeeper.jmx.log4j.disable=true"])
            .args(["-cp", &self.installation.classpath, "org.apache.zookeeper.server.quorum.QuorumPeerMain"])
            .arg(self.folder.join("zoo.cfg"))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        *self.process() = Some(child);
        Ok(())
    }

    /// Whether its process runs, or is frozen.
    pub fn is_up(&self) -> bool {
        self.process().is_some()
    }

    /// Kills the server and starts it again.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&self) -> io::Result<()> {
        self.stop();
        self.resume()
    }

    /// Kills the server, deletes its data, and starts it again: it knows no node and no session.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn lose_data(&self) -> io::Result<()> {
        self.stop();
        fs::remove_dir_all(self.data())?;
        self.resume()
    }

    /// Stops the process where it is: connections stay and nothing is answered. Returns when all its threads stand.
    ///
    /// # Errors
    /// When the signal cannot be sent, or does not stop it.
    pub fn freeze(&self) -> io::Result<()> {
        wait_frozen(self.signal("-STOP")?)
    }

    /// Lets a frozen process go on.
    ///
    /// # Errors
    /// When the signal cannot be sent.
    pub fn thaw(&self) -> io::Result<()> {
        self.signal("-CONT").map(drop)
    }

    /// Waits until the server serves requests.
    ///
    /// # Errors
    /// When it ended or does not serve in time; its log is in the error.
    pub fn wait_ready(&self) -> io::Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        let data = self.data().display().to_string();
        // Answers "not currently serving requests" before; another server may listen on the port.
        while !self.ask("conf").is_ok_and(|answer| answer.contains(&data)) {
            let ended = self.process().as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)));
            if ended || Instant::now() > deadline {
                let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
                return Err(ports::not_served(&format!("ZooKeeper on port {} does not serve", self.port), &log));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The last lines of its log.
    fn end_of_log(&self) -> String {
        let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }

    /// What the server answers to a four-letter command like `srvr`.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn ask(&self, command: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(command.as_bytes())?;
        stream.shutdown(Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// A number that the server keeps, for example `zk_packets_received`.
    ///
    /// # Errors
    /// When it does not answer, or keeps no such number.
    pub fn mntr(&self, key: &str) -> io::Result<f64> {
        let answer = self.ask("mntr")?;
        let value = answer.lines().find_map(|line| line.split_once('\t').filter(|(name, _)| *name == key));
        value
            .and_then(|(_, value)| value.trim().parse().ok())
            .ok_or_else(|| io::Error::other(format!("mntr tells no number {key}:\n{answer}")))
    }

    /// Whether the server still holds a session.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn has_session(&self, id: i64) -> io::Result<bool> {
        let id = format!("0x{id:x}");
        let answer = self.ask("dump")?;
        Ok(answer.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == id))
    }

    /// Sends a signal to the process, and returns its id.
    fn signal(&self, signal: &str) -> io::Result<u32> {
        let id = self.process().as_ref().map(Child::id).ok_or_else(|| io::Error::other("the server does not run"))?;
        let status = Command::new("kill").args([signal, &id.to_string()]).status()?;
        if status.success() { Ok(id) } else { Err(io::Error::other(format!("kill {signal} {id}: {status}"))) }
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ZookeeperServer {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
