//! Who disabled something, in the language of the reader.

use elasticjob::operations::JobOverview;
use i18n_embed_fl::fl;

use crate::service::disabled::{DisabledBy, Disablings, disabled};
use crate::text::Text;

/// Who disabled it and why, or that it was not recorded.
pub(super) fn told(text: &Text, by: Option<&DisabledBy>) -> String {
    match by {
        None => fl!(text.loader(), "disabled-by-unknown"),
        Some(by) if by.reason.is_empty() => fl!(text.loader(), "disabled-by", actor = by.actor.as_str()),
        Some(by) => {
            fl!(text.loader(), "disabled-by-reason", actor = by.actor.as_str(), reason = by.reason.as_str())
        }
    }
}

/// The same of a job of which something is disabled; `None` where nothing is.
pub(super) fn of_job(text: &Text, disablings: &Disablings, job: &JobOverview) -> Option<String> {
    disabled(job).map(|_| told(text, disablings.by_of_job(job).as_ref()))
}
