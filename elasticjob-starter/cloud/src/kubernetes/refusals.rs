//! Why the cluster makes no pod: a quota, a LimitRange or a security policy refuses it, and only an event says so.

use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;

use super::KubernetesCarrier;
use super::errors::answer;

/// The reason of the events of a controller whose pod was refused.
const FAILED_CREATE: &str = "FailedCreate";

impl KubernetesCarrier {
    /// Why the last pod of an object was refused. `None` where none was, or where the cluster does not say it: a Role of an earlier
    /// version has no right to list events, and the state of an item is known without them.
    pub(super) async fn refusal(&self, kind: &str, name: &str) -> Option<String> {
        let fields = format!("involvedObject.kind={kind},involvedObject.name={name},reason={FAILED_CREATE}");
        let events = answer(self.refusals.list(&ListParams::default().fields(&fields))).await.ok()?;
        latest(&events.items)
    }
}

/// What the latest of some events says.
fn latest(events: &[Event]) -> Option<String> {
    let time = |event: &&Event| {
        let last = event.last_timestamp.as_ref().or(event.metadata.creation_timestamp.as_ref());
        last.map(|time| time.0)
    };
    let message = events.iter().max_by_key(time)?.message.as_deref()?;
    Some(format!("the cluster refuses its pod: {}", message.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_latest_refusal_of_a_pod_is_told() {
        let event = |at: &str, message: &str| -> Event {
            let event = json!({ "metadata": { "creationTimestamp": "2026-11-26T08:00:00Z" }, "involvedObject": {},
                                "reason": FAILED_CREATE, "lastTimestamp": at, "message": message });
            serde_json::from_value(event).unwrap()
        };
        let quota = "Error creating: pods \"ej-a-0-x\" is forbidden: exceeded quota: small";
        let events = [event("2026-11-26T09:00:00Z", quota), event("2026-11-26T08:30:00Z", "Error creating: older")];
        assert_eq!(latest(&events).unwrap(), format!("the cluster refuses its pod: {quota}"));
        assert_eq!(latest(&[]), None);
    }
}
