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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Bug;

    /// Each cause with the next one, so that none is left out.
    fn next(cause: Cause) -> Option<Cause> {
        Some(match cause {
            Cause::NoInstance => Cause::Unassigned,
            Cause::Unassigned => Cause::OwnerGone,
            Cause::OwnerGone => Cause::Orphaned,
            Cause::Orphaned => Cause::Static,
            Cause::Static => Cause::EngineGone,
            Cause::EngineGone => Cause::Frozen,
            Cause::Frozen => Cause::Cut,
            Cause::Cut => Cause::Unregistered,
            Cause::Unregistered => Cause::Leaving,
            Cause::Leaving => Cause::ServerDisabled,
            Cause::ServerDisabled => Cause::ItemDisabled,
            Cause::ItemDisabled => Cause::AnswerLost,
            Cause::AnswerLost => Cause::Clock,
            Cause::Clock => Cause::Assignment,
            Cause::Assignment => Cause::Configuration,
            Cause::Configuration => Cause::NewItem,
            Cause::NewItem => Cause::RegisteredSince,
            Cause::RegisteredSince => Cause::TooLate,
            Cause::TooLate => Cause::CutOff,
            Cause::CutOff => Cause::Busy,
            Cause::Busy => Cause::Unheard,
            Cause::Unheard => Cause::Slow,
            Cause::Slow => Cause::Java,
            Cause::Java => Cause::Unseen,
            Cause::Unseen => Cause::Disturbed,
            Cause::Disturbed => return None,
        })
    }

    #[test]
    fn the_page_names_planted_bugs_for_every_excuse() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/development.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let (_, table) = page.split_once("| excuse | bugs |").expect("the table");
        let (table, _) = table.split_once("\n\n").expect("its end");
        let mut rows = table.lines().skip(2).filter_map(|row| row.strip_prefix("| ")?.split_once(" | "));
        let all = std::iter::successors(Some(Cause::NoInstance), |cause| next(*cause));
        for name in all.map(Cause::name) {
            assert!(rows.clone().any(|(excuses, _)| excuses.contains(&format!("`{name}`"))), "{name}");
        }
        let bugs = rows.by_ref().flat_map(|(_, bugs)| bugs.split('`').skip(1).step_by(2));
        for bug in bugs {
            assert!(Bug::ALL.iter().any(|(known, _)| *known == bug), "{bug}");
        }
    }
}
