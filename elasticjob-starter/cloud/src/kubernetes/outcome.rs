//! The outcomes of a pod's items.

use std::collections::BTreeMap;

use elasticjob::ident::ShardingItem;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod, PodStatus};

use super::names::{DISRUPTED, FETCH};
use super::states::{condition, container};
use crate::carrier::Outcome;

/// Ends what the program itself wrote of a failure; without it the text is the end of its log.
const SEPARATOR: char = '\u{1e}';

/// The exit code of a program that was killed.
const KILLED: i32 = 137;

/// How the items of a pod ended; `None` while it has not.
pub(super) fn outcomes(pod: &Pod, items: &[ShardingItem]) -> Option<BTreeMap<ShardingItem, Outcome>> {
    let status = pod.status.as_ref()?;
    let all = |outcome: Outcome| items.iter().map(|item| (*item, outcome.clone())).collect();
    match status.phase.as_deref() {
        Some("Succeeded") => Some(all(Outcome::Succeeded)),
        Some("Failed") => Some(match whole(pod, status) {
            Some(outcome) => all(outcome),
            None => of_program(pod, status, items),
        }),
        _ => None,
    }
}

/// Why the place of a pod was lost; `None` of a pod that lives, or that ended in another way.
pub(super) fn lost(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref().filter(|status| status.phase.as_deref() == Some("Failed"))?;
    match whole(pod, status) {
        Some(Outcome::Lost { why }) => Some(why),
        _ => None,
    }
}

/// An outcome that says nothing of the program.
fn whole(pod: &Pod, status: &PodStatus) -> Option<Outcome> {
    if let Some(disrupted) = condition(pod, DISRUPTED).filter(|condition| condition.status == "True") {
        let reason = status.reason.as_deref().or(disrupted.reason.as_deref()).unwrap_or("its pod was disrupted");
        let message =
            disrupted.message.as_deref().or(status.message.as_deref()).unwrap_or("the cluster does not say more");
        return Some(Outcome::Lost { why: format!("{reason}: {message}") });
    }
    // Nothing else sets a deadline: this is how an item is stopped that has begun.
    (status.reason.as_deref() == Some("DeadlineExceeded")).then_some(Outcome::Stopped)
}

fn of_program(pod: &Pod, status: &PodStatus, items: &[ShardingItem]) -> BTreeMap<ShardingItem, Outcome> {
    let ended = container(pod).and_then(|status| status.state.as_ref()?.terminated.as_ref());
    let all = |outcome: Outcome| items.iter().map(|item| (*item, outcome.clone())).collect();
    let Some(ended) = ended else { return all(Outcome::Failed { exit: None, text: before_it_began(status) }) };
    let limit = limit(pod);
    let told = if items.len() > 1 { of_each(ended) } else { None };
    match told {
        Some(told) => items.iter().map(|item| (*item, one_of_several(ended, told.get(item), limit))).collect(),
        None => all(one(ended, limit)),
    }
}

fn one(ended: &ContainerStateTerminated, limit: u64) -> Outcome {
    if ended.reason.as_deref() == Some("OOMKilled") {
        return Outcome::OutOfMemory { limit };
    }
    let text = ended.message.as_deref().unwrap_or_default();
    let text = match text.strip_suffix(SEPARATOR) {
        Some(words) => words.trim(),
        None => text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default(),
    };
    Outcome::Failed { exit: Some(ended.exit_code), text: text_or(text, ended.exit_code) }
}

fn one_of_several(ended: &ContainerStateTerminated, told: Option<&(i32, String)>, limit: u64) -> Outcome {
    match told {
        None => Outcome::Succeeded,
        Some((KILLED, _)) if ended.reason.as_deref() == Some("OOMKilled") => Outcome::OutOfMemory { limit },
        Some((exit, text)) => Outcome::Failed { exit: Some(*exit), text: text_or(text, *exit) },
    }
}

fn text_or(text: &str, exit: i32) -> String {
    match exit {
        _ if !text.is_empty() => text.to_owned(),
        129.. => format!("it was killed by signal {}, and left no text", exit - 128),
        _ => "it left no text: see its log".to_owned(),
    }
}

/// What the items that failed left, where several share the pod: `ITEM CODE TEXT` each. `None` where that is not known: the
/// whole pod was killed.
fn of_each(ended: &ContainerStateTerminated) -> Option<BTreeMap<ShardingItem, (i32, String)>> {
    let told = ended.message.as_deref()?.strip_suffix(SEPARATOR)?;
    let each = told.split(SEPARATOR).map(|told| {
        let mut words = told.splitn(3, ' ');
        let (item, exit) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((item, (exit, words.next().unwrap_or_default().trim().to_owned())))
    });
    each.collect()
}

/// Why a pod has failed whose program never began.
fn before_it_began(status: &PodStatus) -> String {
    let fetch = status.init_container_statuses.iter().flatten().find(|container| container.name == FETCH);
    let fetched = fetch.and_then(|container| container.state.as_ref()?.terminated.as_ref());
    if let Some(text) = fetched.filter(|ended| ended.exit_code != 0).and_then(|ended| ended.message.as_deref()) {
        return text.trim().to_owned();
    }
    let (reason, message) = (status.reason.as_deref(), status.message.as_deref());
    let told: Vec<&str> = [reason, message].into_iter().flatten().collect();
    if told.is_empty() { "its pod has failed before the program began".to_owned() } else { told.join(": ") }
}

/// The memory in MB that a pod may have.
fn limit(pod: &Pod) -> u64 {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let limits = containers.filter(|container| container.name == super::names::CONTAINER);
    let memory =
        limits.filter_map(|container| container.resources.as_ref()?.limits.as_ref()?.get("memory").cloned()).next();
    memory.and_then(|memory| megabytes(&memory.0)).unwrap_or(0)
}

/// A quantity in MB. Kubernetes writes what the carrier gave in the largest unit that fits.
fn megabytes(quantity: &str) -> Option<u64> {
    let (number, unit) =
        quantity.split_at(quantity.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(quantity.len()));
    let number: u64 = number.parse().ok()?;
    match unit {
        "Mi" => Some(number),
        "Gi" => Some(number * 1_024),
        "Ti" => Some(number * 1_024 * 1_024),
        "Ki" => Some(number / 1_024),
        "" => Some(number / 1_024 / 1_024),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_the_units_that_kubernetes_writes() {
        for (text, megabytes_of) in [("80Mi", Some(80)), ("2Gi", Some(2_048)), ("83886080", Some(80)), ("80M", None)] {
            assert_eq!(megabytes(text), megabytes_of, "{text}");
        }
    }
}
