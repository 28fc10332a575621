//! The ways in which a caller shows its identity.

use serde_json::{Value, json};

use crate::access::{COOKIE, Permission};

/// The ways there are, by their names in the document.
pub(super) fn schemes() -> Value {
    json!({
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of a program: elasticjob console new-token, elasticjob.console-tokens, or one made on the page Tokens.",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": "The session of a user who logged in on the pages. A browser has to send changes from a page of the console. \
                Where the console itself listens, the name ends with an underline and its port.",
        },
    })
}

/// Which of them a route takes: one of them, none where everybody may ask.
pub(super) fn of(permission: Permission) -> Value {
    match permission {
        Permission::Public => json!([]),
        _ => json!([{ "token": [] }, { "session": [] }]),
    }
}
