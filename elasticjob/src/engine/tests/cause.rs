//! The trace context of the caller that triggers a job.

use super::group::{Group, job};
use super::triggers::unassigned;
use crate::config::JobConfiguration;
use crate::engine::Event;
use crate::fire::{ExecutionSource, FireRecord, TraceParent};
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn caller() -> Option<TraceParent> {
    TraceParent::parse(TEXT)
}

fn failing_over(items: u32) -> JobConfiguration {
    JobConfiguration::builder("job", items).cron("0/5 * * * * ?").failover(true).build().unwrap()
}

/// Another client triggers the job on a host with these data.
fn ask(group: &mut Group, host: usize, data: &str) {
    let mut transaction = Transaction::new();
    if !group.exists(&JobPath::Triggers) {
        transaction.create(JobPath::Triggers.absolute(&job()), "", CreateMode::Persistent);
    }
    transaction.create(group.own_trigger(host), data, CreateMode::Persistent);
    group.operate(&transaction, false);
}

fn record(group: &Group, item: u32) -> String {
    group.text(&JobPath::fire(item)).unwrap()
}

/// The trace contexts of the runs that a host has begun.
fn causes(group: &Group, host: usize) -> Vec<Option<TraceParent>> {
    group.starts(host).into_iter().map(|(fire, ..)| fire.trace_parent()).collect()
}

#[test]
fn a_run_knows_the_trace_of_its_caller_and_the_instance_that_takes_it_over_does() {
    let mut group = Group::settled(2, &failing_over(2));
    group.tell(0, Event::Trigger(1, caller()));
    assert_eq!((causes(&group, 0), causes(&group, 1)), (vec![caller()], vec![caller()]));
    let lost = group.starts(0)[0].2[0];
    assert!(record(&group, lost).contains(&format!(r#""manual":true,"traceparent":"{TEXT}","instance""#)));
    group.kill(0);
    let (fire, source, items) = group.starts(1).pop().unwrap();
    assert_eq!((fire.trace_parent(), source, items), (caller(), ExecutionSource::Failover, vec![lost]));
    assert!(record(&group, lost).contains(TEXT));
}

#[test]
fn the_instance_that_runs_it_for_one_that_was_gone_before_knows_the_trace() {
    let configuration = JobConfiguration::builder("job", 2).failover(true).build().unwrap();
    let mut group = Group::settled(2, &configuration);
    group.hosts[0].connected = false;
    ask(&mut group, 0, &format!(r#"{{"traceparent":"{TEXT}"}}"#));
    group.kill(0);
    group.run_until(6_000);
    assert_eq!(causes(&group, 1), [caller()]);
}

#[test]
fn a_trigger_without_a_trace_and_one_that_is_not_understood_write_nothing_of_one() {
    let mut group = Group::settled(2, &failing_over(2));
    group.disconnect(1);
    group.tell(0, Event::Trigger(1, None));
    let waits = JobPath::Trigger(group.hosts[1].engine.instance().clone());
    assert_eq!(group.text(&waits).as_deref(), Some(""));
    let mut group = Group::settled(1, &failing_over(1));
    for data in ["", r#"{"traceparent":"00-1-1-01"}"#, r#"{"traceparent":{}}"#] {
        ask(&mut group, 0, data);
        assert!(!record(&group, 0).contains("traceparent"), "{}", record(&group, 0));
        group.end_items(0, &[0]);
    }
    assert_eq!(causes(&group, 0), [None; 3]);
}

#[test]
fn requests_that_wait_together_are_one_run_for_the_first_trace_among_them() {
    let (mut group, host, _) = unassigned();
    let other = TraceParent::new(1, 2, 0);
    for (id, trace_parent) in [(1, None), (2, caller()), (3, other)] {
        group.tell(host, Event::Trigger(id, trace_parent));
    }
    group.connect(1 - host);
    assert_eq!((causes(&group, 0), causes(&group, 1)), (vec![caller()], vec![caller()]));
}

#[test]
fn a_request_that_was_not_written_stays_before_those_that_came_since() {
    let mut group = Group::settled(1, &failing_over(1));
    group.hosts[0].connected = false;
    group.tell_unanswered(0, Event::Trigger(1, caller()));
    group.tell_unanswered(0, Event::Trigger(2, TraceParent::new(1, 2, 0)));
    group.disconnect(0);
    group.connect(0);
    group.run_until(4_000);
    assert_eq!(causes(&group, 0), [caller()]);
}

#[test]
fn a_record_with_a_trace_that_is_not_understood_still_says_what_was_begun() {
    for wrong in [r#""later""#, "7", "null"] {
        let text = format!(
            r#"{{"triggered":9,"last":{{"at":5,"manual":true,"traceparent":{wrong},"instance":"10.0.0.1@-@7","attempt":"1-00000007.1","state":"RUNNING"}}}}"#
        );
        let read = FireRecord::parse(text.as_bytes());
        assert_eq!(read.last_fire().map(|fire| (fire.at(), fire.trace_parent())), Some((5, None)), "{text}");
        assert!(read.running().is_some());
    }
}
