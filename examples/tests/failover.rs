//! The example `failover`, as a process.

use std::process::Command;

/// The content of a line about a run that begins.
#[derive(Debug)]
struct Begin<'a> {
    instance: &'a str,
    at: &'a str,
    source: &'a str,
    token: i64,
}

/// Parses a line of the form `north: item 0 of <time> begins, source FAILOVER, token 7`.
fn begin(line: &str) -> Option<Begin<'_>> {
    let (instance, rest) = line.split_once(": item 0 of ")?;
    let (at, rest) = rest.split_once(" begins, source ")?;
    let (source, token) = rest.split_once(", token ")?;
    Some(Begin { instance, at, source, token: token.parse().ok()? })
}

#[test]
fn the_item_of_a_lost_instance_is_taken_over_and_nothing_is_booked_twice() {
    let output = Command::new(env!("CARGO_BIN_EXE_failover")).env_remove("RUST_LOG").output().expect("it runs");
    let (lines, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{lines}\n{log}", output.status);

    let begins: Vec<Begin<'_>> = lines.lines().filter_map(begin).collect();
    let [lost, taken] = begins.as_slice() else { panic!("two runs of item 0, not {begins:?}\n{lines}") };
    assert_eq!((lost.source, taken.source), ("NORMAL_TRIGGER", "FAILOVER"), "{lines}");
    assert_eq!(lost.at, taken.at, "{lines}");
    assert_ne!(lost.instance, taken.instance, "{lines}");
    assert!(taken.token > lost.token, "{lines}");

    for item in 0..2 {
        for step in 1..=5 {
            let booked = format!(": item {item} step {step}: Booked");
            assert_eq!(lines.lines().filter(|line| line.ends_with(&booked)).count(), 1, "{booked}\n{lines}");
        }
    }
    assert!(lines.contains(&format!("{}: item 0 step 1: BookedBefore", taken.instance)), "{lines}");
    assert!(lines.contains(&format!("{}: item 0 step 3, late: Refused", lost.instance)), "{lines}");
    assert!(log.contains("took the item over: its run was lost"), "{log}");
}
