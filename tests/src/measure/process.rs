//! What this process takes of the machine, as `/proc` tells it.

use std::collections::BTreeMap;
use std::fs;

/// Counters of this process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct ProcessUse {
    /// Processor time so far; the kernel counts it in hundredths of a second.
    pub cpu_ms: u64,
    /// Memory that is in use.
    pub rss_kb: u64,
    /// Threads that there are.
    pub threads: u64,
}

impl ProcessUse {
    /// Takes them now.
    pub fn take() -> Self {
        let status = status();
        let field = |name: &str| status.get(name).copied().unwrap_or_default();
        Self { cpu_ms: cpu_ms(), rss_kb: field("VmRSS"), threads: field("Threads") }
    }
}

fn status() -> BTreeMap<String, u64> {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |value: &str| value.split_whitespace().next().and_then(|number| number.parse().ok());
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter_map(|(key, value)| Some((key.to_owned(), number(value)?)))
        .collect()
}

fn cpu_ms() -> u64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may contain blanks; the fields after its closing parenthesis do not.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) * 10
}
