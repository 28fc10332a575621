//! The operator who disabled something, in the language of the reader.

use elasticjob::operations::JobOverview;
use i18n_embed_fl::fl;

use crate::service::disabled::{By, Disablings};
use crate::text::Text;

/// Who disabled it and why, or that it was not recorded. `None` where the records were not read so far.
pub(super) fn told(text: &Text, by: By) -> Option<String> {
    Some(match by {
        By::Unread => return None,
        By::NotRecorded => fl!(text.loader(), "disabled-by-unknown"),
        By::Operator(by) if by.reason.is_empty() => fl!(text.loader(), "disabled-by", actor = by.actor),
        By::Operator(by) => fl!(text.loader(), "disabled-by-reason", actor = by.actor, reason = by.reason),
    })
}

/// The same of a job; `None` as well where nothing of it is disabled.
pub(super) fn of_job(text: &Text, disablings: &Disablings, job: &JobOverview) -> Option<String> {
    told(text, disablings.by_of_job(job)?)
}
