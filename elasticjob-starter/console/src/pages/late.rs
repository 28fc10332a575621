//! Runs that began late: when they were expected, against when they began.

use elasticjob::fire::Begun;
use i18n_embed_fl::fl;

use super::time::duration;
use crate::text::Text;

/// From when on a run counts as late, in milliseconds; the alert `ElasticjobLate` has the same.
const LATE: u64 = 5_000;

/// How late the run of a scheduled fire began, in words; `None` for one in time, one that was triggered by hand, and a past fire
/// that was run again.
pub(crate) fn late(text: &Text, run: &Begun) -> Option<String> {
    let began = run.began.filter(|_| !run.manual && run.rerun().is_none())?;
    let late = u64::try_from(began - run.at).ok().filter(|late| *late >= LATE)?;
    Some(fl!(text.loader(), "began-late", span = duration(&late)))
}
