//! The plan of faults and their times, from the seed alone.

use std::collections::BTreeSet;
use std::time::Duration;

use elasticjob::testing::rng::Rng;

use super::SESSION_TIMEOUT;
use crate::zookeeper::MEMBERS;

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The processes and their links.
    Processes,
    /// The server too.
    ProcessesAndServer,
    /// The servers of an ensemble too, and the links between them.
    ProcessesAndEnsemble,
}

/// One thing to do. Processes are numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Kill(Vec<usize>),
    Start(usize),
    Freeze(usize),
    Thaw(usize),
    CutOff(usize),
    Mend(usize),
    BreakConnections,
    /// Each is asked to leave and started again, one after the other.
    RestartAll,
    StopServer,
    StartServer,
    FreezeServer,
    ThawServer,
    /// Cuts one of the two followers off from the leader.
    PartFollower(usize),
    KillLeader,
    FreezeMember(usize),
    /// Kills all members but this one, which goes on for readers.
    LeaveReaders(usize),
    /// Ends what is wrong with the ensemble.
    MendEnsemble,
    /// Each server is killed and started again, one after the other.
    RestartMembers,
    Disable,
    Enable,
    Trigger,
}

/// A step and when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    /// After the step before.
    pub(super) pause: Duration,
    pub(super) step: Step,
    /// The fault that begins with it.
    pub(super) fault: Option<&'static str>,
}

/// The faults there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Killed,
    KilledForLong,
    Frozen,
    FrozenForLong,
    CutOff,
    CutOffForLong,
    ConnectionsBroken,
    AllButOneKilled,
    AllKilled,
    RollingRestart,
    ServerRestarted,
    ServerFrozen,
    FollowerParted,
    FollowerPartedForLong,
    LeaderKilled,
    MemberFrozen,
    ReadOnly,
    MembersRestarted,
    Disabled,
    Triggered,
}

impl Kind {
    const ALL: [Self; 20] = [
        Self::Killed,
        Self::KilledForLong,
        Self::Frozen,
        Self::FrozenForLong,
        Self::CutOff,
        Self::CutOffForLong,
        Self::ConnectionsBroken,
        Self::AllButOneKilled,
        Self::AllKilled,
        Self::RollingRestart,
        Self::ServerRestarted,
        Self::ServerFrozen,
        Self::FollowerParted,
        Self::FollowerPartedForLong,
        Self::LeaderKilled,
        Self::MemberFrozen,
        Self::ReadOnly,
        Self::MembersRestarted,
        Self::Disabled,
        Self::Triggered,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::KilledForLong => "killed_for_long",
            Self::Frozen => "frozen",
            Self::FrozenForLong => "frozen_for_long",
            Self::CutOff => "cut_off",
            Self::CutOffForLong => "cut_off_for_long",
            Self::ConnectionsBroken => "connections_broken",
            Self::AllButOneKilled => "all_but_one_killed",
            Self::AllKilled => "all_killed",
            Self::RollingRestart => "rolling_restart",
            Self::ServerRestarted => "server_restarted",
            Self::ServerFrozen => "server_frozen",
            Self::FollowerParted => "follower_parted",
            Self::FollowerPartedForLong => "follower_parted_for_long",
            Self::LeaderKilled => "leader_killed",
            Self::MemberFrozen => "member_frozen",
            Self::ReadOnly => "read_only",
            Self::MembersRestarted => "members_restarted",
            Self::Disabled => "disabled",
            Self::Triggered => "triggered",
        }
    }

    /// How often it comes in a round.
    fn weight(self) -> usize {
        match self {
            Self::Killed | Self::KilledForLong | Self::FrozenForLong | Self::CutOffForLong => 2,
            _ => 1,
        }
    }

    fn is_within(self, scope: Scope) -> bool {
        match self {
            Self::ServerRestarted | Self::ServerFrozen => scope == Scope::ProcessesAndServer,
            Self::FollowerParted
            | Self::FollowerPartedForLong
            | Self::LeaderKilled
            | Self::MemberFrozen
            | Self::ReadOnly
            | Self::MembersRestarted => scope == Scope::ProcessesAndEnsemble,
            _ => true,
        }
    }

    /// Whether processes must be in peace before: all of them are dealt with.
    fn needs_all(self) -> bool {
        matches!(self, Self::AllButOneKilled | Self::AllKilled | Self::RollingRestart)
    }
}

/// The steps of a seed, without an end. Faults of different processes overlap; a round has each kind at least once, in any
/// order.
pub(super) struct Plan {
    rng: Rng,
    scope: Scope,
    deck: Vec<Kind>,
    /// In milliseconds since the begin.
    now: u64,
    told: u64,
    /// Until when each process, and the server with its operator, has a fault.
    busy: Vec<u64>,
    server_busy: u64,
    /// What ends faults, by time.
    ahead: BTreeSet<(u64, Step)>,
    /// What was drawn and comes at `now`, as soon as what is ahead of it was told.
    drawn: Option<(Step, Kind)>,
}

impl Plan {
    pub(super) fn new(seed: u64, instances: usize, scope: Scope) -> Self {
        Self {
            rng: Rng::new(seed),
            scope,
            deck: Vec::new(),
            now: 0,
            told: 0,
            busy: vec![0; instances],
            server_busy: 0,
            ahead: BTreeSet::new(),
            drawn: None,
        }
    }

    fn draw_kind(&mut self) -> Kind {
        if self.deck.is_empty() {
            let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_within(self.scope));
            self.deck = kinds.flat_map(|kind| vec![kind; kind.weight()]).collect();
        }
        let index = self.rng.below(self.deck.len() as u64) as usize;
        self.deck.swap_remove(index)
    }

    /// Draws the next fault, with what ends it.
    fn draw(&mut self) -> (Step, Kind) {
        let kind = self.draw_kind();
        self.now += self.rng.between(500, 4_000);
        if kind.needs_all() {
            self.now = self.busy.iter().copied().fold(self.now, u64::max);
        }
        let step = match kind {
            Kind::Killed
            | Kind::KilledForLong
            | Kind::Frozen
            | Kind::FrozenForLong
            | Kind::CutOff
            | Kind::CutOffForLong => self.one_process(kind),
            Kind::AllKilled => self.kill((0..self.busy.len()).collect()),
            Kind::AllButOneKilled => {
                let survivor = self.rng.below(self.busy.len() as u64) as usize;
                self.kill((0..self.busy.len()).filter(|process| *process != survivor).collect())
            }
            Kind::RollingRestart => Step::RestartAll,
            Kind::ConnectionsBroken => Step::BreakConnections,
            Kind::ServerRestarted => self.server(Step::StopServer, Step::StartServer, 100, 3_000),
            Kind::ServerFrozen => self.server(Step::FreezeServer, Step::ThawServer, 300, session(15)),
            Kind::FollowerParted | Kind::FollowerPartedForLong => {
                let follower = self.rng.below(2) as usize;
                let (least, most) =
                    if kind == Kind::FollowerParted { (500, session(15)) } else { (session(15), 15_000) };
                self.server(Step::PartFollower(follower), Step::MendEnsemble, least, most)
            }
            Kind::LeaderKilled => self.server(Step::KillLeader, Step::MendEnsemble, 100, session(15)),
            Kind::MemberFrozen => {
                let member = self.rng.below(MEMBERS as u64) as usize;
                self.server(Step::FreezeMember(member), Step::MendEnsemble, 300, 15_000)
            }
            Kind::ReadOnly => {
                let member = self.rng.below(MEMBERS as u64) as usize;
                self.server(Step::LeaveReaders(member), Step::MendEnsemble, session(10), 15_000)
            }
            Kind::MembersRestarted => {
                self.now = self.now.max(self.server_busy);
                Step::RestartMembers
            }
            Kind::Disabled => self.server(Step::Disable, Step::Enable, 1_000, 4_000),
            Kind::Triggered => {
                self.now = self.now.max(self.server_busy);
                Step::Trigger
            }
        };
        (step, kind)
    }

    fn one_process(&mut self, kind: Kind) -> Step {
        // One that has no fault, or the one that is first without.
        let first = self.busy.iter().copied().min().unwrap_or(0);
        self.now = self.now.max(first);
        let free: Vec<usize> = (0..self.busy.len()).filter(|process| self.busy[*process] <= self.now).collect();
        let process = self.rng.pick(&free);
        let (step, end, least, most) = match kind {
            Kind::Killed => (Step::Kill(vec![process]), Step::Start(process), 50, 1_500),
            Kind::KilledForLong => (Step::Kill(vec![process]), Step::Start(process), session(11), session(25)),
            Kind::Frozen => (Step::Freeze(process), Step::Thaw(process), 50, session(4)),
            Kind::FrozenForLong => (Step::Freeze(process), Step::Thaw(process), session(13), session(25)),
            Kind::CutOff => (Step::CutOff(process), Step::Mend(process), 50, session(5)),
            _ => (Step::CutOff(process), Step::Mend(process), session(13), session(25)),
        };
        self.ends(process, end, least, most);
        step
    }

    fn kill(&mut self, processes: Vec<usize>) -> Step {
        for process in &processes {
            self.ends(*process, Step::Start(*process), 200, session(15));
        }
        Step::Kill(processes)
    }

    fn ends(&mut self, process: usize, end: Step, least: u64, most: u64) {
        let at = self.now + self.rng.between(least, most);
        self.ahead.insert((at, end));
        self.busy[process] = at + self.rng.between(0, 3_000);
    }

    fn server(&mut self, step: Step, end: Step, least: u64, most: u64) -> Step {
        self.now = self.now.max(self.server_busy);
        let at = self.now + self.rng.between(least, most);
        self.ahead.insert((at, end));
        self.server_busy = at + self.rng.between(1_000, 3_000);
        step
    }

    fn tell(&mut self, at: u64, step: Step, fault: Option<&'static str>) -> Planned {
        let pause = Duration::from_millis(at.saturating_sub(self.told));
        self.told = self.told.max(at);
        Planned { pause, step, fault }
    }
}

/// Tenths of the session time-out, in milliseconds.
fn session(tenths: u64) -> u64 {
    SESSION_TIMEOUT.as_millis() as u64 * tenths / 10
}

impl Iterator for Plan {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        let (step, kind) = match self.drawn.take() {
            Some(drawn) => drawn,
            None => self.draw(),
        };
        match self.ahead.first() {
            Some((at, _)) if *at < self.now => {
                self.drawn = Some((step, kind));
                let (at, end) = self.ahead.pop_first()?;
                Some(self.tell(at, end, None))
            }
            _ => Some(self.tell(self.now, step, Some(kind.name()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// The plan of some minutes, each step with its time.
    fn plan(seed: u64, scope: Scope, minutes: u32) -> Vec<(Duration, Planned)> {
        let mut at = Duration::ZERO;
        let timed = Plan::new(seed, 3, scope).map(move |planned| {
            at += planned.pause;
            (at, planned)
        });
        timed.take_while(|(at, _)| *at < MINUTE * minutes).collect()
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(plan(7, Scope::ProcessesAndServer, 5), plan(7, Scope::ProcessesAndServer, 5));
        assert_ne!(plan(7, Scope::ProcessesAndServer, 5), plan(8, Scope::ProcessesAndServer, 5));
    }

    #[test]
    fn every_kind_of_fault_comes_within_minutes() {
        for seed in 0..20 {
            for (scope, minutes) in [(Scope::ProcessesAndServer, 3), (Scope::ProcessesAndEnsemble, 6)] {
                let told: BTreeSet<&str> =
                    plan(seed, scope, minutes).iter().filter_map(|(_, planned)| planned.fault).collect();
                let all: BTreeSet<&str> =
                    Kind::ALL.into_iter().filter(|kind| kind.is_within(scope)).map(Kind::name).collect();
                assert_eq!(told, all);
            }
        }
    }

    #[test]
    fn a_server_of_others_is_left_alone() {
        let server = [Step::StopServer, Step::StartServer, Step::FreezeServer, Step::ThawServer];
        assert!(plan(1, Scope::Processes, 20).iter().all(|(_, planned)| !server.contains(&planned.step)));
    }

    #[test]
    fn a_process_has_one_fault_at_a_time_and_each_ends() {
        for seed in 0..50 {
            let mut faulty: BTreeMap<usize, &str> = BTreeMap::new();
            let mut server: Option<Step> = None;
            let scope = if seed % 2 == 0 { Scope::ProcessesAndServer } else { Scope::ProcessesAndEnsemble };
            for (at, Planned { step, .. }) in plan(seed, scope, 20) {
                match step {
                    Step::Kill(processes) => {
                        for process in processes {
                            assert_eq!(faulty.insert(process, "killed"), None, "seed {seed} at {at:?}");
                        }
                    }
                    Step::Freeze(process) => {
                        assert_eq!(faulty.insert(process, "frozen"), None, "seed {seed} at {at:?}")
                    }
                    Step::CutOff(process) => {
                        assert_eq!(faulty.insert(process, "cut off"), None, "seed {seed} at {at:?}")
                    }
                    Step::Start(process) => assert_eq!(faulty.remove(&process), Some("killed")),
                    Step::Thaw(process) => assert_eq!(faulty.remove(&process), Some("frozen")),
                    Step::Mend(process) => assert_eq!(faulty.remove(&process), Some("cut off")),
                    Step::RestartAll => assert!(faulty.is_empty()),
                    Step::StopServer
                    | Step::FreezeServer
                    | Step::PartFollower(_)
                    | Step::KillLeader
                    | Step::FreezeMember(_)
                    | Step::LeaveReaders(_)
                    | Step::Disable => assert_eq!(server.replace(step), None),
                    Step::MendEnsemble => assert!(matches!(
                        server.take(),
                        Some(Step::PartFollower(_) | Step::KillLeader | Step::FreezeMember(_) | Step::LeaveReaders(_))
                    )),
                    Step::RestartMembers => assert_eq!(server, None),
                    Step::StartServer => assert_eq!(server.take(), Some(Step::StopServer)),
                    Step::ThawServer => assert_eq!(server.take(), Some(Step::FreezeServer)),
                    Step::Enable => assert_eq!(server.take(), Some(Step::Disable)),
                    Step::BreakConnections | Step::Trigger => {}
                }
            }
        }
    }
}
