//! Faults of processes and registry that a test made.

use serde::Serialize;

/// Something that a test did, and undid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What was done.
    #[serde(flatten)]
    pub kind: FaultKind,
    /// Just before it was done, in microseconds since 1970.
    pub from_us: i64,
    /// When it was in effect for sure.
    pub at_us: i64,
    /// When it was undone; that of a kill is when the process was gone.
    pub until_us: i64,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum FaultKind {
    /// A process was killed.
    Killed {
        /// The process.
        pid: u32,
    },
    /// A process was stopped where it is, and went on later.
    Frozen {
        /// The process.
        pid: u32,
    },
    /// The link of a process to the registry was cut, and mended later.
    CutOff {
        /// The process.
        pid: u32,
    },
    /// A process was asked to leave, and has left.
    Left {
        /// The process.
        pid: u32,
    },
    /// The registry was away for all.
    Outage,
    /// All servers were disabled, and enabled later.
    Disabled,
}

impl Fault {
    /// Something that is in effect until further notice.
    pub fn begun(kind: FaultKind, from_us: i64, at_us: i64) -> Self {
        Self { kind, from_us, at_us, until_us: i64::MAX }
    }

    /// The process it was done to, `None` when it was done to all.
    pub fn pid(&self) -> Option<u32> {
        match self.kind {
            FaultKind::Killed { pid }
            | FaultKind::Frozen { pid }
            | FaultKind::CutOff { pid }
            | FaultKind::Left { pid } => Some(pid),
            FaultKind::Outage | FaultKind::Disabled => None,
        }
    }

    /// Whether it keeps a process from the registry: its session may end.
    pub fn separates(&self, pid: u32) -> bool {
        match self.kind {
            FaultKind::Killed { pid: of } | FaultKind::Frozen { pid: of } | FaultKind::CutOff { pid: of } => of == pid,
            FaultKind::Outage => true,
            FaultKind::Left { .. } | FaultKind::Disabled => false,
        }
    }

    /// Whether any of it lies between two times.
    pub fn touches(&self, from_us: i64, until_us: i64) -> bool {
        self.from_us <= until_us && self.until_us >= from_us
    }
}
