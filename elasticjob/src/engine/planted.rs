//! Bugs that can be planted, to see that the simulator finds them. Only with the feature `testing`.

mod dropped_fires;

use std::time::Duration;

/// How long the `Deaf` bugs drop fires.
pub(in crate::engine) const DEAF: Duration = Duration::from_secs(4);
/// An answer that takes longer is slow, for the bug of that name.
pub(in crate::engine) const SLOW: Duration = Duration::from_millis(400);

/// A planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The engine looks at `running` and `fire` and then overwrites them without guards.
    LookThenOverwrite,
    /// The mark of an instance that runs an item is replaced instead of respected.
    StolenMark,
    /// The leader assigns items to the instances of the last sharding.
    StaleInstanceList,
    /// Items of an instance that has ended move although sharding is static.
    StaticItemsMove,
    /// Fires begin however far the clock is off.
    UncheckedClock,
    /// A record counts however far its fires are ahead.
    TrustedRecord,
    /// The fire that a clock far ahead began is forgotten with the next one.
    ForgottenAhead,
    /// A clock that was set back makes no fire due until the time that it showed before.
    KeptCalendar,
    /// Items do not move on although they should with each fire.
    KeptTurn,
    /// Runs are not cancelled when the session can no longer be proven.
    RunsOutliveSession,
    /// A cut-off that comes late gives the whole grace once more.
    GraceFromNow,
    /// The time since the last proof is measured only by the clock that stands still with its machine.
    StoppedClock,
    /// A proof that was too old is good again when the wall clock was set back.
    YoungAgain,
    /// A proof is taken to be good for the whole time-out. Planted in the code around the engine.
    #[cfg(feature = "testing")]
    NoLease,
    /// A job that stops ends the session, which the process has for its other jobs too. Planted in the code around the
    /// engine.
    #[cfg(feature = "testing")]
    EndsSession,
    /// A question for a proof that a proof from before it answers counts as open. Planted in the code around the engine.
    #[cfg(feature = "testing")]
    OlderProof,
    /// The clean-up after an engine deletes the nodes that its session has in other jobs. Planted in the code around
    /// the engine.
    #[cfg(feature = "testing")]
    CleansSession,
    /// A request of several jobs has the guards of its first transaction alone. Planted in the code around the engine.
    #[cfg(feature = "testing")]
    ForgottenGuard,
    /// The refusal of a request of several jobs is given to another job. Planted in the code around the engine.
    #[cfg(feature = "testing")]
    ForeignAnswer,
    /// A session has the time-out that it was granted first.
    FirstTimeOut,
    /// A proof lasts for the time-out less the grace, without a margin for clocks of different speed.
    NoMargin,
    /// A proof of another session proves this one, too.
    ForeignProof,
    /// The answer of a follower proves the session, too. Planted in the code around the engine.
    #[cfg(feature = "testing")]
    ProofByRead,
    /// A lost answer is taken for a failure and the begin is repeated.
    BlindRetry,
    /// A server is deleted the moment it has no instance, although a Java instance may be about to start there.
    HastyCleaning,
    /// A Java leader is not reminded of what it forgot.
    ForgottenRerequest,
    /// The leader takes away marks of runs that go on.
    SweptMarks,
    /// A call on behalf of the group is claimed without looking whether another instance claimed it.
    UnguardedClaim,
    /// A call on behalf of the group is made again when the instance that made it is gone.
    RepeatedCall,
    /// The listeners after a round do not wait for items that still run elsewhere.
    HastyAfter,
    /// A fire is dropped after the first of several transactions that begin its items.
    DroppedRest,
    /// An item is taken over without looking whether another instance took it.
    UnguardedTakeover,
    /// A run goes on although an operator cancelled it.
    IgnoredCancel,
    /// The leader of a large group hears of its own items alone.
    DeafLeader,
    /// An item that is heard of again is taken for what it was before.
    #[cfg(feature = "testing")]
    KeptPicture,
    /// An instance of a large group hears of an item that comes to it only when the owners of all are read.
    LateWatches,
    /// A lost run is taken over although an operator cancelled it.
    CancelledTakenOver,
    /// The leader of a job that depends on others decides as soon as one item of theirs has ended.
    HastyChild,
    /// The leader of a job that depends on others takes their cancelled items for ended, though others take these over.
    HastyCancelled,
    /// The leader of a job that depends on others leaves out the items that these have no more.
    ForgottenFormer,
    /// A leader that did not write the configuration itself does not follow the jobs that its job depends on.
    ForgottenParents,
    /// The leader of a job that depends on others says nothing of their fires that it did not see.
    ForgottenParentFire,
    /// A fire whose job before it failed is run all the same.
    BlindChild,
    /// An item begins with the first ones of its fire, though the item that it follows has not ended.
    EarlyItem,
    /// The next fire becomes due although items of the one before it were released a moment ago.
    HastyNext,
    /// The instance that takes an item over does not know any more which past fire its run was to run again.
    ForgottenRerun,
    /// The instance that takes an item over does not know the trace context of the caller any more.
    ForgottenCause,
    /// The leader follows a re-run before the jobs before its own have ended.
    HastyRerun,
    /// The leader follows no re-run.
    DeafToReruns,
    /// The mark of a run stays when it is finished.
    KeptMark,
    /// A missed fire is never made up for.
    ForgottenMisfire,
    /// A manual trigger is said to be queued and never written.
    LostTrigger,
    /// No instance runs the items that a manual trigger asked of an instance that has ended.
    DroppedTrigger,
    /// A manual trigger does not wait until all items are assigned.
    HastyTrigger,
    /// A manual trigger takes an item for reached that came to an instance with an older trigger, and joins that one.
    JoinedTrigger,
    /// Nothing is told of items that go away from an instance with a manual trigger.
    SilentGiveAway,
    /// Items move although their owner is to run them for a manual trigger.
    OutrunTrigger,
    /// The instance stays in the registry when it leaves.
    ForgottenInstance,
    /// An instance that an operator deleted goes on.
    IgnoredRemoval,
    /// A changed configuration is not put in force.
    FrozenConfiguration,
    /// An id that another session holds is taken all the same.
    StolenId,
    /// A leader whose server is disabled goes on leading.
    ClingingLeader,
    /// Each enabled instance makes itself the leader now and then, also where there is a leader.
    Usurper,
    /// The leader never looks at everything again.
    BlindTrust,
    /// An instance that joins looks at no fire that came before.
    LateJoiner,
    /// A change of the schedule counts from when the instance hears of it.
    ForgottenChange,
    /// With any edit of the configuration the schedule counts as a new one.
    SinceLastEdit,
    /// A fire is due for 10 s only, also where it may begin later.
    ShortWindow,
    /// For 4 s after each reconnect every due fire is dropped, and nothing is reported.
    DeafAfterReconnect,
    /// A fire that was held over an outage of the registry center is dropped when it is back.
    DroppedHeld,
    /// Items that come to an instance when their fire is due already are not begun.
    DroppedAcquired,
    /// A fire that came while the process was stopped is dropped.
    DroppedOverslept,
    /// A fire whose begin was not answered is dropped.
    DroppedUnresolved,
    /// For 4 s after a change of the configuration every due fire is dropped.
    DeafAfterChange,
    /// For 4 s after the server is enabled again every due fire is dropped.
    DeafAfterEnabling,
    /// For 4 s after a step of the clock every due fire is dropped.
    DeafAfterStep,
    /// For 1.5 s after a run every due fire is dropped.
    DeafAfterRun,
    /// For 4 s after the items have their owners again every due fire is dropped.
    DeafAfterAssignment,
    /// For 10 s after each registration every due fire is dropped.
    DeafAfterRegistration,
    /// For 4 s after the process was frozen every due fire is dropped.
    #[cfg(feature = "testing")]
    DeafAfterFreeze,
    /// For 4 s after an answer that took long every due fire is dropped.
    DeafAfterSlow,
    /// For 10 s after another instance has gone every due fire is dropped.
    #[cfg(feature = "testing")]
    DeafAfterDeparture,
    /// A fire is dropped while an item of another instance runs.
    DroppedBesideRuns,
    /// Half of the time fires beside Java instances are dropped.
    DeafBesideJava,
    /// Items are not begun for 10 s after they were made.
    DroppedNew,
    /// The leader does not say which items stay with an owner that is gone.
    SilentGone,
    /// An item is never begun again after one of its fires was decided against because the item was disabled.
    DroppedEnabled,
    /// A missed fire whose place a later one takes is not reported as left out.
    SilentCollapse,
    /// Whoever begins an item does not say which fires before it nobody began.
    SilentGivenUp,
    /// The engine that takes the place of one that was to leave does not leave.
    ForgottenLeaving,
    /// The clean-up after an engine leaves the leader's node there.
    LeftLeader,
    /// The clean-up after an engine leaves the marks of runs there.
    LeftMark,
    /// The clean-up after an engine leaves its calls of listeners there, so that others wait for them.
    LeftCall,
    /// The clean-up after an engine takes away the marks of code that goes on.
    HastyCleanUp,
    /// Nothing cleans up after an engine that left without the answer of the registry.
    LeftUnanswered,
    /// The engine tries again and again to delete a node that cannot be deleted, as there are nodes below it that no
    /// instance makes.
    StuckOnForeign,
    /// A missed fire is looked at although its item is not free, again and again in the same step.
    CirclingMisfire,
    /// A later fire begins an item whose run was cut off and waits to be taken over.
    OvertakenLoss,
    /// An instance whose node no session owns counts as one that lives.
    SessionlessInstance,
    /// An instance that comes back does not write the configuration that the registry center has lost.
    KeptLoss,
    /// Items without a record since the registry center lost its data are taken for not begun.
    BegunBefore,
    /// A job that runs after others follows them from the time that the clock of its leader shows when it begins to.
    StartsByOwnClock,
    /// A run that goes on from an earlier engine is taken for over, as its mark is of the own session.
    SessionForEngine,
    /// A fire from before an instance joined is not begun late.
    DroppedLookBack,
    /// Fires within a minute after an item was made are taken for fires from before the registration of the job.
    WideRegistration,
}

#[cfg(feature = "testing")]
impl Bug {
    /// All bugs that can be planted, with their names.
    pub const ALL: [(&'static str, Self); 105] = [
        ("look-then-overwrite", Self::LookThenOverwrite),
        ("stolen-mark", Self::StolenMark),
        ("stale-instance-list", Self::StaleInstanceList),
        ("static-items-move", Self::StaticItemsMove),
        ("unchecked-clock", Self::UncheckedClock),
        ("trusted-record", Self::TrustedRecord),
        ("forgotten-ahead", Self::ForgottenAhead),
        ("kept-calendar", Self::KeptCalendar),
        ("kept-turn", Self::KeptTurn),
        ("runs-outlive-session", Self::RunsOutliveSession),
        ("grace-from-now", Self::GraceFromNow),
        ("stopped-clock", Self::StoppedClock),
        ("young-again", Self::YoungAgain),
        ("no-lease", Self::NoLease),
        ("ends-session", Self::EndsSession),
        ("older-proof", Self::OlderProof),
        ("cleans-session", Self::CleansSession),
        ("forgotten-guard", Self::ForgottenGuard),
        ("foreign-answer", Self::ForeignAnswer),
        ("first-time-out", Self::FirstTimeOut),
        ("no-margin", Self::NoMargin),
        ("foreign-proof", Self::ForeignProof),
        ("proof-by-read", Self::ProofByRead),
        ("blind-retry", Self::BlindRetry),
        ("hasty-cleaning", Self::HastyCleaning),
        ("forgotten-rerequest", Self::ForgottenRerequest),
        ("swept-marks", Self::SweptMarks),
        ("unguarded-claim", Self::UnguardedClaim),
        ("repeated-call", Self::RepeatedCall),
        ("hasty-after", Self::HastyAfter),
        ("dropped-rest", Self::DroppedRest),
        ("unguarded-takeover", Self::UnguardedTakeover),
        ("overtaken-loss", Self::OvertakenLoss),
        ("circling-misfire", Self::CirclingMisfire),
        ("ignored-cancel", Self::IgnoredCancel),
        ("cancelled-taken-over", Self::CancelledTakenOver),
        ("hasty-child", Self::HastyChild),
        ("hasty-cancelled", Self::HastyCancelled),
        ("forgotten-former", Self::ForgottenFormer),
        ("forgotten-parents", Self::ForgottenParents),
        ("forgotten-parent-fire", Self::ForgottenParentFire),
        ("blind-child", Self::BlindChild),
        ("early-item", Self::EarlyItem),
        ("hasty-next", Self::HastyNext),
        ("forgotten-rerun", Self::ForgottenRerun),
        ("forgotten-cause", Self::ForgottenCause),
        ("hasty-rerun", Self::HastyRerun),
        ("deaf-to-reruns", Self::DeafToReruns),
        ("kept-mark", Self::KeptMark),
        ("forgotten-misfire", Self::ForgottenMisfire),
        ("lost-trigger", Self::LostTrigger),
        ("outrun-trigger", Self::OutrunTrigger),
        ("hasty-trigger", Self::HastyTrigger),
        ("joined-trigger", Self::JoinedTrigger),
        ("silent-give-away", Self::SilentGiveAway),
        ("forgotten-instance", Self::ForgottenInstance),
        ("ignored-removal", Self::IgnoredRemoval),
        ("frozen-configuration", Self::FrozenConfiguration),
        ("stolen-id", Self::StolenId),
        ("clinging-leader", Self::ClingingLeader),
        ("usurper", Self::Usurper),
        ("blind-trust", Self::BlindTrust),
        ("late-joiner", Self::LateJoiner),
        ("forgotten-change", Self::ForgottenChange),
        ("since-last-edit", Self::SinceLastEdit),
        ("short-window", Self::ShortWindow),
        ("deaf-after-reconnect", Self::DeafAfterReconnect),
        ("dropped-held", Self::DroppedHeld),
        ("dropped-acquired", Self::DroppedAcquired),
        ("dropped-overslept", Self::DroppedOverslept),
        ("dropped-unresolved", Self::DroppedUnresolved),
        ("deaf-after-change", Self::DeafAfterChange),
        ("deaf-after-enabling", Self::DeafAfterEnabling),
        ("deaf-after-step", Self::DeafAfterStep),
        ("deaf-after-run", Self::DeafAfterRun),
        ("deaf-after-assignment", Self::DeafAfterAssignment),
        ("deaf-after-registration", Self::DeafAfterRegistration),
        ("deaf-after-freeze", Self::DeafAfterFreeze),
        ("deaf-after-slow", Self::DeafAfterSlow),
        ("deaf-after-departure", Self::DeafAfterDeparture),
        ("dropped-beside-runs", Self::DroppedBesideRuns),
        ("deaf-beside-java", Self::DeafBesideJava),
        ("dropped-new", Self::DroppedNew),
        ("silent-gone", Self::SilentGone),
        ("dropped-enabled", Self::DroppedEnabled),
        ("silent-collapse", Self::SilentCollapse),
        ("silent-given-up", Self::SilentGivenUp),
        ("forgotten-leaving", Self::ForgottenLeaving),
        ("left-leader", Self::LeftLeader),
        ("left-mark", Self::LeftMark),
        ("left-call", Self::LeftCall),
        ("hasty-clean-up", Self::HastyCleanUp),
        ("left-unanswered", Self::LeftUnanswered),
        ("dropped-trigger", Self::DroppedTrigger),
        ("stuck-on-foreign", Self::StuckOnForeign),
        ("sessionless-instance", Self::SessionlessInstance),
        ("kept-loss", Self::KeptLoss),
        ("begun-before", Self::BegunBefore),
        ("starts-by-own-clock", Self::StartsByOwnClock),
        ("session-for-engine", Self::SessionForEngine),
        ("deaf-leader", Self::DeafLeader),
        ("kept-picture", Self::KeptPicture),
        ("late-watches", Self::LateWatches),
        ("dropped-look-back", Self::DroppedLookBack),
        ("wide-registration", Self::WideRegistration),
    ];
}

#[cfg(feature = "testing")]
impl std::str::FromStr for Bug {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(|(name, _)| name).join(", ");
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, bug)| bug).ok_or_else(|| format!("unknown bug {name}; there are {names}"))
    }
}

/// The bug planted in an engine, if any.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Planted {
    #[cfg(feature = "testing")]
    bug: Option<Bug>,
    /// Until then due fires are dropped.
    #[cfg(feature = "testing")]
    deaf_until: Duration,
}

impl Planted {
    #[cfg(feature = "testing")]
    pub(super) fn plant(&mut self, bug: Bug) {
        self.bug = Some(bug);
    }

    #[cfg(feature = "testing")]
    pub(super) fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Whether this instance makes itself the leader now. Not always: instances that do nothing else find nothing else.
    pub(super) fn usurps(&self, now: Duration) -> bool {
        self.has(Bug::Usurper) && now.as_millis() % 1_000 < 50
    }

    /// With this bug, due fires are dropped until then.
    #[cfg(feature = "testing")]
    pub(super) fn deafen(&mut self, bug: Bug, until: Duration) {
        if self.has(bug) {
            self.deaf_until = until;
        }
    }

    #[cfg(feature = "testing")]
    pub(super) fn is_deaf(&self, now: Duration) -> bool {
        now < self.deaf_until
    }

    #[cfg(not(feature = "testing"))]
    #[allow(clippy::unused_self)]
    pub(super) fn deafen(&mut self, _: Bug, _: Duration) {}

    #[cfg(not(feature = "testing"))]
    #[allow(clippy::unused_self)]
    pub(super) fn is_deaf(&self, _: Duration) -> bool {
        false
    }

    #[cfg(not(feature = "testing"))]
    #[allow(clippy::unused_self)]
    pub(super) fn has(&self, _: Bug) -> bool {
        false
    }
}
