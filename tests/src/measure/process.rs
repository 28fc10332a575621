//! A process's use of the machine, as `/proc` tells it.

use std::collections::BTreeMap;
use std::fs;

/// Counters of a process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct ProcessUse {
    /// Processor time so far; the kernel counts it in hundredths of a second.
    pub cpu_ms: u64,
    /// Memory that is in use.
    pub rss_kb: u64,
    /// The part of it that is of no file: what the allocator holds, and stacks.
    pub anonymous_kb: u64,
    /// Threads that there are.
    pub threads: u64,
}

impl ProcessUse {
    /// Takes those of this process now.
    pub fn take() -> Self {
        Self::of(std::process::id())
    }

    /// Takes those of another process now; zero where there is none.
    pub fn of(process: u32) -> Self {
        let status = status(process);
        let field = |name: &str| status.get(name).copied().unwrap_or_default();
        Self {
            cpu_ms: cpu_ms(process),
            rss_kb: field("VmRSS"),
            anonymous_kb: field("RssAnon"),
            threads: field("Threads"),
        }
    }
}

fn status(process: u32) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let number = |value: &str| value.split_whitespace().next().and_then(|number| number.parse().ok());
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter_map(|(key, value)| Some((key.to_owned(), number(value)?)))
        .collect()
}

fn cpu_ms(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program may contain blanks; the fields after its closing parenthesis do not.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) * 10
}
