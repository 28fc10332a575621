//! The configurations that a job had: who changed what, when and why, and the way back.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;

use super::job::{Head, named};
use super::time::Clock;
use super::{Layout, error, page};
use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;
use crate::service::versions::{self, Changed};
use crate::text::t;

#[derive(Template)]
#[template(path = "configuration_history.html")]
struct HistoryPage {
    layout: Layout,
    head: Head,
    clock: Clock,
    changes: Vec<Changed>,
    may_edit: bool,
    /// Whether the registration of a carried job decides, so that nothing can be put back here.
    is_carried: bool,
    /// Whether changes are noted also while no user looks.
    is_kept: bool,
}

pub(crate) async fn show(here: Here, Path((_, name)): Path<(String, String)>) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let read = async {
        let changes = versions::history(&here, &job).await?;
        let is_carried = here.views().configuration(&job).await.is_ok_and(|stored| stored.is_carried());
        Ok::<_, Problem>((changes, is_carried))
    };
    match read.await {
        Ok((changes, is_carried)) => page(&HistoryPage {
            layout: Layout::of(&here),
            head: Head::of(&here, &job, "configuration"),
            clock: Clock::in_zone(None),
            changes,
            may_edit: here.may(Role::Editor, &job) && !is_carried,
            is_carried,
            is_kept: here.app.options.data.is_some(),
        }),
        Err(wrong) => error::problem(&here, &wrong),
    }
}
