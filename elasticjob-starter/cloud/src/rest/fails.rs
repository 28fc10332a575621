//! Why routes do not do what they are asked: the statuses of their answers, for the description of the API.

use std::collections::BTreeMap;

use axum::http::StatusCode;

/// What may keep a route from doing what it is asked, beside a caller who may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fail {
    /// The body cannot be used, or is too long.
    Body,
    /// A parameter, or a part of the address, cannot be used.
    Parameter,
    /// There is nothing of this name.
    Missing,
    /// What is there forbids it.
    State,
    /// Others change the same all the time.
    Contended,
    /// The registry center does not answer, or refuses it.
    Center,
    /// The carrier does not answer.
    Carrier,
    /// There are no traces, or they cannot be read.
    Traces,
    /// The file of an embedded registry cannot be written.
    File,
    /// A name and a password are wrong, or are slowed down.
    Login,
}

impl Fail {
    fn statuses(self) -> &'static [(StatusCode, &'static str)] {
        match self {
            Self::Body => &[
                (StatusCode::BAD_REQUEST, "a body that cannot be used, with each field that is wrong"),
                (StatusCode::PAYLOAD_TOO_LARGE, "a body of more than 256 KiB"),
            ],
            Self::Parameter => &[(StatusCode::BAD_REQUEST, "a parameter or a name that cannot be used")],
            Self::Missing => &[(StatusCode::NOT_FOUND, "nothing of this name")],
            Self::State => &[(StatusCode::CONFLICT, "it exists, is disabled, or no scheduler runs it")],
            Self::Contended => &[(StatusCode::CONFLICT, "others changed it all the time: send the request again")],
            Self::Center => &[
                (StatusCode::BAD_GATEWAY, "the registry center refused the request"),
                (StatusCode::SERVICE_UNAVAILABLE, "the registry center is away: send the request again"),
            ],
            Self::Carrier => &[(StatusCode::BAD_GATEWAY, "the carrier did not answer")],
            Self::Traces => &[
                (StatusCode::CONFLICT, "the scheduler traces to no database"),
                (StatusCode::BAD_GATEWAY, "the database of the traces did not answer"),
                (StatusCode::SERVICE_UNAVAILABLE, "other reads take all connections to it: send the request again"),
            ],
            Self::File => &[(
                StatusCode::INTERNAL_SERVER_ERROR,
                "it is in force, and the file of the embedded registry cannot be written",
            )],
            Self::Login => &[
                (StatusCode::UNAUTHORIZED, "a wrong name or password"),
                (StatusCode::FORBIDDEN, "a page of another origin sent it"),
                (StatusCode::TOO_MANY_REQUESTS, "too many attempts"),
                (StatusCode::INTERNAL_SERVER_ERROR, "the operating system gives no random bytes for a session"),
            ],
        }
    }
}

/// The statuses that a route can have when it does not do what it is asked, each with its causes.
pub(super) fn statuses(fails: &[Fail], needs_role: bool) -> BTreeMap<u16, String> {
    let of_role: &[(StatusCode, &str)] = match needs_role {
        true => &[
            (StatusCode::UNAUTHORIZED, "a caller who is not known"),
            (StatusCode::FORBIDDEN, "another role is needed, or a page of another origin sent it"),
        ],
        false => &[],
    };
    let mut statuses: BTreeMap<u16, String> = BTreeMap::new();
    for (status, cause) in of_role.iter().chain(fails.iter().flat_map(|fail| fail.statuses())) {
        let causes = statuses.entry(status.as_u16()).or_default();
        if !causes.is_empty() {
            causes.push_str("; ");
        }
        causes.push_str(cause);
    }
    statuses
}
