//! Runs that began late: when they were expected, against when they began.

use elasticjob::fire::Begun;
use elasticjob::operations::alarms::lateness;
use i18n_embed_fl::fl;

use super::time::duration;
use crate::text::Text;

/// How late the run of a scheduled fire began, in words; `None` for one that was not late.
pub(crate) fn late(text: &Text, run: &Begun) -> Option<String> {
    lateness(run).map(|late| fl!(text.loader(), "began-late", span = duration(&late)))
}
