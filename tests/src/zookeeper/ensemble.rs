//! Three real servers that make up an ensemble, and what a test does to them.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::{START_LIMIT, ZookeeperServer};
use crate::ports;
use crate::proxy::Proxy;

/// How many servers there are. The ensemble serves while two of them do.
pub const MEMBERS: usize = 3;

/// Nothing that is kept for tests needs more.
const HEAP: [&str; 3] = ["-Xmx96m", "-Xss512k", "-XX:+UseSerialGC"];

/// A follower tries for so long to reach a leader that does not listen yet. One that is connected and loses the
/// connection begins another election instead, which the leader does not join for 20 s.
const UNTIL_LED: Duration = Duration::from_secs(5);

/// How the servers are set up.
#[derive(Debug, Clone, Copy)]
pub struct EnsembleSettings {
    /// The basic time unit. Sessions last from 2 to 20 of it.
    pub tick: Duration,
    /// After how many ticks without a word leader and follower give each other up.
    pub sync_limit: u32,
    /// Whether a server that has lost the others serves clients that may read only.
    pub read_only: bool,
}

impl Default for EnsembleSettings {
    /// As in the sample configuration of ZooKeeper.
    fn default() -> Self {
        Self { tick: Duration::from_secs(2), sync_limit: 5, read_only: false }
    }
}

/// An ensemble. What its servers say to each other as leader and follower goes through links that can be cut.
#[derive(Debug)]
pub struct ZookeeperEnsemble {
    members: Vec<ZookeeperServer>,
    /// The link of each server to each one that may lead, `None` to itself.
    links: Vec<Vec<Option<Proxy>>>,
}

impl ZookeeperEnsemble {
    /// Starts the servers and waits until all of them serve.
    ///
    /// # Errors
    /// When nothing is installed, or a server does not come up; its log is in the error.
    pub async fn start(settings: EnsembleSettings) -> io::Result<Self> {
        loop {
            let ensemble = Self::configured(settings).await?;
            let ready = tokio::task::spawn_blocking(move || {
                ensemble.members.iter().try_for_each(ZookeeperServer::launch)?;
                ensemble.members.iter().try_for_each(ZookeeperServer::wait_ready)?;
                Ok(ensemble)
            });
            match ready.await.map_err(io::Error::other)? {
                Err(error) if io::Error::kind(&error) == ErrorKind::AddrInUse => {}
                started => return started,
            }
        }
    }

    async fn configured(settings: EnsembleSettings) -> io::Result<Self> {
        let mut options: Vec<String> = HEAP.map(str::to_owned).to_vec();
        if settings.read_only {
            options.push("-Dreadonlymode.enabled=true".to_owned());
        }
        let mut members = Vec::new();
        // Where each one listens when it leads, and for votes.
        let mut addresses = Vec::new();
        for _ in 0..MEMBERS {
            members.push(ZookeeperServer::new(options.clone())?);
            addresses.push((format!("127.0.0.1:{}", ports::free()?), ports::free()?));
        }
        let mut links = Vec::new();
        for (number, member) in members.iter().enumerate() {
            let mut own = vec![
                format!("tickTime={}", settings.tick.as_millis()),
                format!("syncLimit={}", settings.sync_limit),
                "initLimit=10".to_owned(),
            ];
            let mut of_member = Vec::new();
            for (other, (leading, voting)) in addresses.iter().enumerate() {
                let link = match other == number {
                    true => None,
                    false => Some(Proxy::start_patient(leading.clone(), UNTIL_LED).await?),
                };
                let leading = link.as_ref().map_or_else(|| leading.clone(), Proxy::connect_string);
                own.push(format!("server.{}={leading}:{voting}", other + 1));
                of_member.push(link);
            }
            links.push(of_member);
            member.configure(&own)?;
            fs::create_dir_all(member.data())?;
            fs::write(member.data().join("myid"), (number + 1).to_string())?;
        }
        Ok(Self { members, links })
    }

    /// A server, by its number from 0 on.
    ///
    /// # Panics
    /// When there is no such server.
    pub fn member(&self, number: usize) -> &ZookeeperServer {
        &self.members[number]
    }

    /// All servers, `host:port` with commas between them.
    pub fn connect_string(&self) -> String {
        self.members.iter().map(ZookeeperServer::connect_string).collect::<Vec<_>>().join(",")
    }

    /// Starts killed servers again and waits until they serve: alone none of them might.
    ///
    /// # Errors
    /// When one does not come up.
    pub async fn resume(&self, numbers: &[usize]) -> io::Result<()> {
        numbers.iter().try_for_each(|number| self.members[*number].launch())?;
        for number in numbers {
            self.wait(|ensemble| ensemble.mode(*number).filter(|mode| mode != "read-only")).await?;
        }
        Ok(())
    }

    /// What a server says that it is: `leader`, `follower`, `read-only`; `None` while it does not serve.
    pub fn mode(&self, number: usize) -> Option<String> {
        let answer = self.members[number].ask("srvr").ok()?;
        answer.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
    }

    /// Waits until a server is what it should be.
    ///
    /// # Errors
    /// When it is not in time.
    pub async fn wait_mode(&self, number: usize, mode: &str) -> io::Result<()> {
        self.wait(|ensemble| (ensemble.mode(number).as_deref() == Some(mode)).then_some(())).await
    }

    /// The number of the server that leads, of those that run; waits until there is one, which others follow.
    ///
    /// # Errors
    /// When there is none in time.
    pub async fn leader(&self) -> io::Result<usize> {
        let is = |ensemble: &Self, number: &usize, mode: &str| {
            ensemble.members[*number].is_up() && ensemble.mode(*number).as_deref() == Some(mode)
        };
        self.wait(|ensemble| {
            let has_follower = (0..MEMBERS).any(|number| is(ensemble, &number, "follower"));
            (0..MEMBERS).find(|number| has_follower && is(ensemble, number, "leader"))
        })
        .await
    }

    /// Waits until all servers serve.
    ///
    /// # Errors
    /// When one does not in time.
    pub async fn wait_all(&self) -> io::Result<()> {
        for number in self.numbers() {
            self.wait(|ensemble| ensemble.mode(number).filter(|mode| mode != "read-only")).await?;
        }
        Ok(())
    }

    /// The numbers of the servers.
    pub fn numbers(&self) -> Range<usize> {
        0..MEMBERS
    }

    /// The numbers of the servers but one.
    pub fn others(&self, but: usize) -> Vec<usize> {
        (0..MEMBERS).filter(|number| *number != but).collect()
    }

    /// Makes the link between two servers a black hole: what they say to each other as leader and follower is swallowed.
    /// Clients stay connected to both of them.
    pub fn cut(&self, one: usize, other: usize) {
        self.between(one, other).for_each(Proxy::swallow);
    }

    /// Mends the link between two servers.
    pub fn mend(&self, one: usize, other: usize) {
        self.between(one, other).for_each(Proxy::mend);
    }

    fn between(&self, one: usize, other: usize) -> impl Iterator<Item = &Proxy> {
        [&self.links[one][other], &self.links[other][one]].into_iter().flatten()
    }

    /// `srvr` of a frozen server is not answered for seconds, so this is not for such.
    async fn wait<T>(&self, find: impl Fn(&Self) -> Option<T>) -> io::Result<T> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            if let Some(found) = find(self) {
                return Ok(found);
            }
            if Instant::now() > deadline {
                let states = self.numbers().map(|number| {
                    let (mode, log) = (self.mode(number), self.members[number].end_of_log());
                    format!("\nserver {}: {mode:?}, its log ends with\n{log}", number + 1)
                });
                let why = format!("the ensemble does not come to that: {}", states.collect::<String>());
                return Err(io::Error::other(why));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
