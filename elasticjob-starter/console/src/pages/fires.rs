//! Words for fires and runs, which several pages have.

use elasticjob::ident::JobName;
use i18n_embed_fl::fl;

use super::chart::sign::Sign;
use super::history::kind_name;
use crate::here::Here;
use crate::service::fires::{Fire, FireOutcome, Gap, RunState, Tally};
use crate::text::Text;

/// The address of the list of records of a job in a time.
pub(super) fn history(here: &Here, list: &str, job: &JobName, from: i64, until: i64) -> String {
    let time = |at: i64| crate::service::time::Time(at).to_string();
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("job", job.as_str()), ("from", &time(from)), ("until", &time(until))])
        .finish();
    format!("{}/r/{}/history/{list}?{query}", here.app.options.base_path, here.registry.name())
}

pub(super) fn outcome(text: &Text, outcome: FireOutcome) -> String {
    match outcome {
        FireOutcome::Succeeded => fl!(text.loader(), "outcome-succeeded"),
        FireOutcome::Recovered => fl!(text.loader(), "fire-recovered"),
        FireOutcome::Partial => fl!(text.loader(), "fire-partial"),
        FireOutcome::Failed => fl!(text.loader(), "outcome-failed"),
        FireOutcome::Running => fl!(text.loader(), "fire-running"),
        FireOutcome::NoEnd => fl!(text.loader(), "outcome-no-end"),
    }
}

pub(super) fn run_state(text: &Text, state: RunState) -> String {
    match state {
        RunState::Succeeded => fl!(text.loader(), "outcome-succeeded"),
        RunState::Failed => fl!(text.loader(), "outcome-failed"),
        RunState::Running => fl!(text.loader(), "fire-running"),
        RunState::Lost => fl!(text.loader(), "run-lost"),
        RunState::NoEnd => fl!(text.loader(), "outcome-no-end"),
    }
}

/// Why a run was, in words; the name itself for one of a later release.
pub(super) fn source(text: &Text, source: &str) -> String {
    match source {
        "NORMAL_TRIGGER" => fl!(text.loader(), "source-normal"),
        "MISFIRE" => fl!(text.loader(), "source-misfire"),
        "FAILOVER" => fl!(text.loader(), "source-failover"),
        other => other.to_owned(),
    }
}

pub(super) fn kind(text: &Text, kind: &str) -> String {
    kind_name(text, kind)
}

/// How many fires have no run.
pub(super) fn no_run(text: &Text, gap: &Gap) -> String {
    match gap.is_cut {
        true => fl!(text.loader(), "runs-no-run-more", count = gap.count),
        false => fl!(text.loader(), "runs-no-run", count = gap.count),
    }
}

/// How many items stand how, such as `3 done, 1 failed`.
pub(super) fn tally(text: &Text, tally: Tally) -> String {
    let loader = text.loader();
    let parts = [
        (tally.done, fl!(loader, "items-done", count = tally.done)),
        (tally.failed, fl!(loader, "items-failed", count = tally.failed)),
        (tally.running, fl!(loader, "items-running", count = tally.running)),
        (tally.no_end, fl!(loader, "items-no-end", count = tally.no_end)),
        (tally.not_run, fl!(loader, "items-not-run", count = tally.not_run)),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
    parts.collect::<Vec<_>>().join(&fl!(loader, "list-comma"))
}

/// What is special about a fire: the class of a tag, and its word.
pub(super) fn marks(text: &Text, fire: &Fire) -> Vec<(&'static str, String)> {
    let loader = text.loader();
    let marks = [
        (fire.is_by_hand(), "run", fl!(loader, "mark-by-hand")),
        (fire.is_without_plan(), "", fl!(loader, "mark-without-plan")),
        (fire.is_misfire(), "warn", fl!(loader, "source-misfire")),
        (fire.is_failed_over(), "warn", fl!(loader, "source-failover")),
        (fire.is_retried(), "warn", fl!(loader, "mark-retried")),
        (fire.is_cut, "bad", fl!(loader, "mark-cut")),
    ];
    marks
        .into_iter()
        .filter(|(is_so, ..)| *is_so && !fire.runs.is_empty())
        .map(|(_, class, word)| (class, word))
        .collect()
}

/// The signs of a picture of these, each with its word.
pub(super) fn legend(text: &Text, signs: impl Iterator<Item = Sign>) -> Vec<(Sign, String)> {
    let shown: Vec<Sign> = signs.collect();
    let word = |sign| match sign {
        Sign::Ok => outcome(text, FireOutcome::Succeeded),
        Sign::Warn => fl!(text.loader(), "fire-partial-or-recovered"),
        Sign::Bad => outcome(text, FireOutcome::Failed),
        Sign::Run => outcome(text, FireOutcome::Running),
        Sign::Unknown => outcome(text, FireOutcome::NoEnd),
    };
    Sign::ALL.into_iter().filter(|sign| shown.contains(sign)).map(|sign| (sign, word(sign))).collect()
}
