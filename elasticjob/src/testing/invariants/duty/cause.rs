//! Names what kept the owner of an item from having to begin a fire.

/// What kept the owner of an item from having to begin a fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::testing::invariants) enum Cause {
    /// No instance is in the group.
    NoInstance,
    /// The item belongs to no instance: the leader has not assigned it yet.
    Unassigned,
    /// The owner is gone, and its session is not over yet.
    OwnerGone,
    /// The owner is gone with its session, and the leader has not given the item to another one yet.
    Orphaned,
    /// The owner is gone, and the item stays with it, as sharding is static.
    Static,
    /// The coordination of the owner starts again, after a bug.
    EngineGone,
    /// The owner is frozen, or was.
    Frozen,
    /// The owner is cut off, or was.
    Cut,
    /// The owner is in no session, or was.
    Unregistered,
    /// The owner leaves.
    Leaving,
    /// The server of the owner is disabled, or was.
    ServerDisabled,
    /// The item is disabled, or was.
    ItemDisabled,
    /// An answer to the owner is lost, or was.
    AnswerLost,
    /// The clock of the owner stepped, or another one was ahead.
    Clock,
    /// The item is to be assigned, or was.
    Assignment,
    /// The configuration changed, or the owner goes by another one.
    Configuration,
    /// The fire came before there was such an item.
    NewItem,
    /// The job was registered after the fire, by the clock of the registry center; the clock of the owner is behind.
    RegisteredSince,
    /// The fire may not begin so late: its limit is over, or nothing is recorded.
    TooLate,
    /// What began it was cut off before it started, and is not taken over.
    CutOff,
    /// A run of the owner, or of the item, goes on, or did.
    Busy,
    /// An operator did what no watch tells of.
    Unheard,
    /// The time between two fires is shorter than what a begin may take in a network so slow, or a proof of the session may
    /// be too old when it comes.
    Slow,
    /// There are Java instances.
    Java,
    /// The clock of the owner leapt over it.
    Unseen,
    /// In the calm something happened within 25 s.
    Disturbed,
}

impl Cause {
    pub(in crate::testing::invariants) fn name(self) -> &'static str {
        match self {
            Self::NoInstance => "no_instance",
            Self::Unassigned => "unassigned",
            Self::OwnerGone => "owner_gone",
            Self::Orphaned => "not_reassigned",
            Self::Static => "owner_gone_static",
            Self::EngineGone => "engine_gone",
            Self::NewItem => "new_item",
            Self::RegisteredSince => "registered_since",
            Self::TooLate => "too_late",
            Self::CutOff => "begin_cut_off",
            Self::Unseen => "clock_leapt_over",
            Self::Disturbed => "calm_disturbed",
            Self::Frozen => "frozen",
            Self::Cut => "cut",
            Self::Unregistered => "unregistered",
            Self::Leaving => "leaving",
            Self::ServerDisabled => "server_disabled",
            Self::ItemDisabled => "item_disabled",
            Self::AnswerLost => "answer_lost",
            Self::Clock => "clock",
            Self::Assignment => "assignment",
            Self::Configuration => "configuration",
            Self::Busy => "busy",
            Self::Unheard => "unheard",
            Self::Slow => "slow",
            Self::Java => "java",
        }
    }
}
