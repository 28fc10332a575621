//! The table of what has a goal.

/// A case: what is measured in one go, and the figures that it gives.
#[derive(Debug)]
pub(super) struct Case {
    pub name: &'static str,
    pub subject: Subject,
    /// How many jobs fire each second.
    pub jobs: u32,
    /// Options of `bench` beside these jobs.
    pub options: &'static [&'static str],
    pub figures: &'static [Figure],
}

/// What is measured, and who takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Fires on ZooKeeper. The peer is the Java release where it can be: each of its jobs takes four threads and 50 ms to start.
    /// The limit is the server: the same operations without an engine.
    Fires { beside_java: bool },
    /// One job that so many processes share. There is no peer: an instance of Java hears of all nodes, as this one did before.
    Instances(u32),
    /// Fires on the embedded registry. The peer is `apalis-cron`; the limit a timer and a call.
    OneProcess,
    /// Events of traces. The peer is Java's way, one by one; the limit that of the database.
    Traces,
}

/// A figure: its title, where it is in a line, by what that is divided, and what was to be reached.
#[derive(Debug)]
pub(super) struct Figure {
    pub title: &'static str,
    pub pointer: &'static str,
    pub unit: f64,
    pub goal: &'static str,
}

const fn figure(title: &'static str, pointer: &'static str, unit: f64, goal: &'static str) -> Figure {
    Figure { title, pointer, unit, goal }
}

const RUNS: Figure = figure("item runs, of those due", "/item_runs", 1.0, "all");
const CPU: Figure = figure("processor, ms a second", "/cpu_ms_per_s", 1.0, "");

const FIRES_TOGETHER: &[Figure] = &[
    figure("requests a second", "/requests_per_s", 1.0, "<= 40"),
    figure("late, ms p50", "/lateness_us/p50", 1e3, "<= 15"),
    figure("late, ms p99", "/lateness_us/p99", 1e3, "<= 30"),
    RUNS,
    CPU,
];

const MANY_FIRES_TOGETHER: &[Figure] = &[
    RUNS,
    figure("requests a second", "/requests_per_s", 1.0, ""),
    figure("late, ms p50", "/lateness_us/p50", 1e3, ""),
    figure("late, ms p99", "/lateness_us/p99", 1e3, ""),
];

const MANY_ITEMS: &[Figure] = &[
    RUNS,
    figure("requests a fire", "/registry_requests_per_fire", 1.0, "several, where one is too large"),
    figure("late, ms p50", "/lateness_us/p50", 1e3, ""),
    figure("late, ms p99", "/lateness_us/p99", 1e3, ""),
];

const ALONE: &[Figure] = &[figure("requests a fire", "/registry_requests_per_fire", 1.0, "2"), RUNS];

const UNMONITORED: &[Figure] = &[figure("requests a fire", "/registry_requests_per_fire", 1.0, "0"), RUNS];

const PACKETS: &[Figure] = &[
    figure("packets the server sends a fire", "/packets_per_fire", 1.0, "<= 3 times those of one instance"),
    figure("processor of the server, ms a second", "/server_cpu_ms_per_s", 1.0, ""),
];

const SCHEDULES: &[Figure] = &[
    figure("late, ms p50", "/lateness_us/p50", 1e3, "below the peer"),
    figure("late, ms p99", "/lateness_us/p99", 1e3, "below the peer"),
    RUNS,
    figure("start, ms", "/start_ms", 1.0, "< 300 for 10,000"),
    figure("memory of the process, kB a job", "/kb_per_job", 1.0, "<= 5 for 10,000"),
    CPU,
];

const EVENTS: &[Figure] = &[
    figure("SQLite, events a second", "/sqlite", 1.0, ""),
    figure("PostgreSQL, events a second", "/postgresql", 1.0, ">= 20 times the peer, or the limit"),
    figure("MariaDB, events a second", "/mariadb", 1.0, ""),
    figure("MariaDB that waits for the disk", "/mariadb_flushed", 1.0, "the cause is told"),
];

const ONE_ITEM: &[&str] = &["--items", "1"];
const NOT_MONITORED: &[&str] = &["--items", "1", "--no-monitor"];

const fn fires(name: &'static str, jobs: u32, options: &'static [&'static str], figures: &'static [Figure]) -> Case {
    Case { name, subject: Subject::Fires { beside_java: false }, jobs, options, figures }
}

const fn beside_java(
    name: &'static str,
    jobs: u32,
    options: &'static [&'static str],
    figures: &'static [Figure],
) -> Case {
    Case { subject: Subject::Fires { beside_java: true }, ..fires(name, jobs, options, figures) }
}

const fn instances(name: &'static str, count: u32) -> Case {
    Case { name, subject: Subject::Instances(count), jobs: 1, options: &["--items", "8"], figures: PACKETS }
}

const fn schedules(name: &'static str, jobs: u32) -> Case {
    Case { name, subject: Subject::OneProcess, jobs, options: NOT_MONITORED, figures: SCHEDULES }
}

/// All of them, in the order in which they are measured.
pub(super) const CASES: &[Case] = &[
    beside_java("1 job, monitored", 1, ONE_ITEM, ALONE),
    beside_java("1,000 jobs, not monitored", 1_000, NOT_MONITORED, UNMONITORED),
    fires("1,000 jobs together", 1_000, ONE_ITEM, FIRES_TOGETHER),
    fires("5,000 jobs together", 5_000, ONE_ITEM, MANY_FIRES_TOGETHER),
    fires("1,000 items of a job", 1, &["--items", "1000"], MANY_ITEMS),
    fires("10,000 items of a job", 1, &["--items", "10000", "--cron", "0/4 * * * * ?"], MANY_ITEMS),
    instances("1 instance", 1),
    instances("3 instances", 3),
    instances("10 instances", 10),
    instances("30 instances", 30),
    schedules("1,000 schedules of one process", 1_000),
    schedules("10,000 schedules of one process", 10_000),
    Case { name: "traces", subject: Subject::Traces, jobs: 0, options: &[], figures: EVENTS },
];
