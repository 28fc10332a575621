//! The codes of problems. Each never changes, and the help has a line for it.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($code:ident = $name:literal,)+) => {
        /// The kind of a problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Code {
            $($code,)+
        }

        impl Code {
            /// All codes, in the order of the help.
            pub(crate) const ALL: &[Self] = &[$(Self::$code,)+];

            /// Its name for programs.
            pub(crate) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }
        }
    };
}

codes! {
    NotLoggedIn = "not-logged-in",
    UnknownToken = "unknown-token",
    ExpiredToken = "expired-token",
    TokenWithoutOwner = "token-without-owner",
    Forbidden = "forbidden",
    WrongHost = "wrong-host",
    ForeignOrigin = "foreign-origin",
    BadRequest = "bad-request",
    WrongMethod = "wrong-method",
    TooLarge = "too-large",
    NoSuchRoute = "no-such-route",
    NoSuchRegistry = "no-such-registry",
    NoSuchJob = "no-such-job",
    NoSuchItem = "no-such-item",
    NoSuchServer = "no-such-server",
    NoSuchRun = "no-such-run",
    NoSuchFire = "no-such-fire",
    NoSuchVersion = "no-such-version",
    NoSuchAlarm = "no-such-alarm",
    NoSuchNode = "no-such-node",
    NoConfiguration = "no-configuration",
    NothingMatched = "nothing-matched",
    NoEnabledInstance = "no-enabled-instance",
    NothingRuns = "nothing-runs",
    NotRerun = "not-rerun",
    InstancesOnline = "instances-online",
    UnreadableConfiguration = "unreadable-configuration",
    InvalidConfiguration = "invalid-configuration",
    ReasonRequired = "reason-required",
    CarriedJob = "carried-job",
    NoVersion = "no-version",
    ChangedMeanwhile = "changed-meanwhile",
    WrongSchedule = "wrong-schedule",
    Contended = "contended",
    KeyInUse = "key-in-use",
    KeyReused = "key-reused",
    TooManyStreams = "too-many-streams",
    RegistryUnreachable = "registry-unreachable",
    RegistryRefused = "registry-refused",
    NotTraced = "not-traced",
    TracesUnreadable = "traces-unreadable",
    TracesBusy = "traces-busy",
    DataUnusable = "data-unusable",
    NotKept = "not-kept",
    UnknownName = "unknown-name",
    NameTaken = "name-taken",
    OfSettings = "of-settings",
    LastAdministrator = "last-administrator",
    NoPassword = "no-password",
    WrongPassword = "wrong-password",
    TooManyAttempts = "too-many-attempts",
    InvalidAccount = "invalid-account",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
