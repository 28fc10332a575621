//! The ensemble under the group, and what is wrong with it: one thing at a time, as two servers of three are needed.

use std::io;

use crate::zookeeper::{EnsembleSettings, ZookeeperEnsemble};

/// An ensemble with at most one fault.
#[derive(Debug)]
pub(super) struct Ensemble {
    servers: ZookeeperEnsemble,
    fault: Option<ServerFault>,
}

/// What is wrong with one of the servers.
#[derive(Debug, Clone, Copy)]
enum ServerFault {
    /// What leader and follower say to each other is swallowed.
    Parted {
        leader: usize,
        follower: usize,
    },
    Killed(usize),
    Frozen(usize),
    /// The others are killed: this one serves readers alone.
    ReadOnly(usize),
}

impl Ensemble {
    pub(super) async fn start() -> io::Result<Self> {
        let settings = EnsembleSettings { read_only: true, ..EnsembleSettings::default() };
        Ok(Self { servers: ZookeeperEnsemble::start(settings).await?, fault: None })
    }

    pub(super) fn connect_string(&self) -> String {
        self.servers.connect_string()
    }

    /// Cuts the link between the leader and one of its followers, of which there are two.
    pub(super) async fn part(&mut self, number: usize) -> io::Result<()> {
        let leader = self.servers.leader().await?;
        let follower = self.servers.others(leader)[number];
        self.servers.cut(leader, follower);
        self.fault = Some(ServerFault::Parted { leader, follower });
        Ok(())
    }

    pub(super) async fn kill_leader(&mut self) -> io::Result<()> {
        let leader = self.servers.leader().await?;
        self.servers.member(leader).stop();
        self.fault = Some(ServerFault::Killed(leader));
        Ok(())
    }

    /// Freezes a server, whichever it is.
    pub(super) fn freeze(&mut self, number: usize) -> io::Result<()> {
        self.servers.member(number).freeze()?;
        self.fault = Some(ServerFault::Frozen(number));
        Ok(())
    }

    /// Kills all servers but one, whichever it is: after some seconds it serves clients that may read only.
    pub(super) fn leave_readers(&mut self, number: usize) {
        self.servers.others(number).into_iter().for_each(|other| self.servers.member(other).stop());
        self.fault = Some(ServerFault::ReadOnly(number));
    }

    /// Restarts all servers, one after the other.
    pub(super) async fn restart_all(&self) -> io::Result<()> {
        for number in self.servers.numbers() {
            self.servers.member(number).stop();
            self.servers.resume(&[number]).await?;
        }
        self.servers.wait_all().await
    }

    /// Ends what is wrong, and waits until all servers serve again.
    pub(super) async fn mend(&mut self) -> io::Result<()> {
        match self.fault.take() {
            Some(ServerFault::Parted { leader, follower }) => self.servers.mend(leader, follower),
            Some(ServerFault::Killed(number)) => self.servers.resume(&[number]).await?,
            Some(ServerFault::Frozen(number)) => self.servers.member(number).thaw()?,
            Some(ServerFault::ReadOnly(number)) => self.servers.resume(&self.servers.others(number)).await?,
            None => {}
        }
        self.servers.wait_all().await
    }
}
