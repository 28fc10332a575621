//! All series of an application, and how they are written.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use elasticjob::api::{JobFact, JobObserver};
use elasticjob::fire::{CancelReason, SkipReason};
use elasticjob::ident::JobName;
use elasticjob::runtime::JobStatus;
use elasticjob::trace::Tracing;
use elasticjob_openmetrics::{Labels, Page};
use tokio::sync::watch;

use super::job::{JobSeries, RESULTS, SOURCES};
use super::locked;
use super::observed_center::RegistrySeries;

/// The name under which the jobs are counted that have no series of their own.
const OTHER: &str = "_other";

/// One counter of a job.
type Counter = fn(&JobSeries) -> &AtomicU64;

/// Everything that is counted.
#[derive(Default)]
pub(crate) struct Series {
    /// One for each job; the last one counts several jobs where there are [others](Self::others).
    jobs: Vec<JobSeries>,
    by_name: HashMap<JobName, usize>,
    /// How many jobs are counted together.
    others: usize,
    statuses: Mutex<Vec<(usize, watch::Receiver<JobStatus>)>>,
    registries: Mutex<Vec<Arc<RegistrySeries>>>,
    tracings: Mutex<Vec<(String, Tracing)>>,
}

impl Series {
    /// Series of these jobs, each with the name of its registry center.
    pub(crate) fn of<'a>(jobs: impl Iterator<Item = (&'a JobName, &'a str)>, max_jobs: usize) -> Self {
        let mut series = Self::default();
        for (place, (job, registry)) in jobs.enumerate() {
            if place < max_jobs {
                series.jobs.push(JobSeries::new(job.as_str(), registry));
            } else {
                series.others += 1;
            }
            series.by_name.insert(job.clone(), place.min(max_jobs));
        }
        if series.others > 0 {
            series.jobs.push(JobSeries::new(OTHER, OTHER));
        }
        series
    }

    pub(crate) fn follow(&self, job: &JobName, status: watch::Receiver<JobStatus>) {
        if let Some(place) = self.by_name.get(job) {
            locked(&self.statuses).push((*place, status));
        }
    }

    pub(crate) fn registry(&self, series: Arc<RegistrySeries>) {
        locked(&self.registries).push(series);
    }

    pub(crate) fn tracing(&self, name: &str, tracing: Tracing) {
        locked(&self.tracings).push((name.to_owned(), tracing));
    }

    /// Writes all of it.
    pub(super) fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        let rust = rustc_version_runtime::version().to_string();
        let build = vec![("version", env!("CARGO_PKG_VERSION")), ("rust", rust.as_str())];
        page.gauges("elasticjob_build_info", "The version of elasticjob, and of the compiler.", [(build, 1.0)])?;
        self.write_counts(page)?;
        self.write_states(page)?;
        RegistrySeries::write(&locked(&self.registries), page)?;
        self.write_tracings(page)
    }

    fn write_counts(&self, page: &mut Page<'_>) -> fmt::Result {
        let jobs = &self.jobs;
        let skips: Vec<String> = SkipReason::CODES.iter().map(|code| code.replace('-', "_")).collect();
        let cancels: Vec<String> = CancelReason::ALL.iter().map(|reason| reason.code().replace('-', "_")).collect();
        let fires = jobs.iter().flat_map(|job| job.by("source", SOURCES, &job.fires));
        page.counters("elasticjob_fires", "Fires of which items began on this instance.", fires)?;
        let runs = jobs.iter().flat_map(|job| job.by("result", RESULTS, &job.runs));
        page.counters("elasticjob_item_runs", "Items that ended on this instance.", runs)?;
        let durations = jobs.iter().flat_map(|job| {
            RESULTS.into_iter().zip(&job.durations).map(|(result, one)| (job.with("result", result), one))
        });
        page.histograms("elasticjob_item_run_duration_seconds", "How long items ran.", durations)?;
        let lateness = jobs.iter().map(|job| (job.labels(), &job.lateness));
        let help = "How long after its scheduled time a fire began. Without made up and taken over ones.";
        page.histograms("elasticjob_fire_lateness_seconds", help, lateness)?;
        let skipped = jobs.iter().flat_map(|job| job.by("reason", skips.iter().map(String::as_str), &job.skipped));
        page.counters("elasticjob_fires_skipped", "Fires, or items of them, that this instance did not run.", skipped)?;
        let cancelled =
            jobs.iter().flat_map(|job| job.by("reason", cancels.iter().map(String::as_str), &job.cancelled));
        page.counters("elasticjob_runs_cancelled", "Items whose runs were cancelled.", cancelled)?;
        let singles: [(&str, &str, Counter); 7] = [
            ("elasticjob_fires_missed", "Fires that were due while the process was stopped.", |job| &job.missed),
            ("elasticjob_fires_collapsed", "Missed fires that a later one replaced.", |job| &job.collapsed),
            ("elasticjob_failovers", "Items that this instance took over.", |job| &job.failovers),
            ("elasticjob_stale_runs", "Runs that ended after their item went on without them.", |job| &job.stale),
            ("elasticjob_resharding", "How often this instance assigned the items.", |job| &job.resharding),
            ("elasticjob_items_moved", "Items that an assignment gave to another instance.", |job| &job.moved),
            ("elasticjob_elections", "How often this instance became the leader.", |job| &job.elections),
        ];
        for (name, help, of) in singles {
            page.counters(name, help, jobs.iter().map(|job| (job.labels(), read(of(job)))))?;
        }
        Ok(())
    }

    fn write_states(&self, page: &mut Page<'_>) -> fmt::Result {
        let statuses: Vec<(usize, JobStatus)> =
            locked(&self.statuses).iter().map(|(place, status)| (*place, status.borrow().clone())).collect();
        let mut running = vec![0; self.jobs.len()];
        statuses.iter().for_each(|(place, status)| running[*place] += status.running.len());
        let counted = self.jobs.iter().zip(running).map(|(job, items)| (job.labels(), items as f64));
        page.gauges("elasticjob_items_running", "Items that run on this instance now.", counted)?;
        // A state of several jobs together would say nothing.
        let single =
            || statuses.iter().map(|(place, status)| (&self.jobs[*place], status)).filter(|(job, _)| job.name != OTHER);
        let oldest = single().filter_map(|(job, status)| Some((job.labels(), job.oldest_start(&status.running)?)));
        let help = "The start of the item that runs longest on this instance. Absent while none runs.";
        page.gauges("elasticjob_oldest_run_start_timestamp_seconds", help, oldest)?;
        let leads = single().map(|(job, status)| (job.labels(), flag(status.leader)));
        page.gauges("elasticjob_leader", "Whether this instance leads the job.", leads)?;
        let refused = single().map(|(job, status)| (job.labels(), flag(status.refused_configuration.is_some())));
        let help = "Whether this instance does not accept the configuration in the registry center.";
        page.gauges("elasticjob_configuration_refused", help, refused)?;
        let help = "Jobs that are counted together as the job _other.";
        page.gauges("elasticjob_metrics_other_jobs", help, [(Labels::new(), self.others as f64)])
    }

    fn write_tracings(&self, page: &mut Page<'_>) -> fmt::Result {
        let tracings = locked(&self.tracings).clone();
        let counts: Vec<_> = tracings.iter().map(|(name, tracing)| (name.as_str(), tracing.counts())).collect();
        let of = |name| vec![("data_source", name)];
        let waiting = counts.iter().map(|(name, counts)| (of(*name), counts.waiting() as f64));
        page.gauges("elasticjob_trace_queue_events", "Events that wait to be written.", waiting)?;
        let capacities = tracings.iter().map(|(name, tracing)| (of(name.as_str()), tracing.queue_capacity() as f64));
        page.gauges("elasticjob_trace_queue_capacity_events", "Events that the queue takes.", capacities)?;
        let posted = counts.iter().flat_map(|(name, counts)| {
            let to = counts.posted_to;
            [("execution", to.executions), ("status", to.states), ("decision", to.decisions), ("log", to.lines)]
                .map(|(table, count)| (vec![("data_source", *name), ("table", table)], count))
        });
        page.counters("elasticjob_trace_events", "Events that the jobs posted.", posted)?;
        let lost = counts.iter().flat_map(|(name, counts)| {
            let by = counts.lost_by;
            [("queue_full", by.queue_full), ("refused", by.refused), ("not_in_time", by.not_in_time)]
                .map(|(reason, count)| (vec![("data_source", *name), ("reason", reason)], count))
        });
        page.counters("elasticjob_trace_events_lost", "Events that were lost.", lost)
    }
}

impl JobSeries {
    fn labels(&self) -> Labels<'_> {
        vec![("job_name", &self.name), ("registry", &self.registry)]
    }

    fn with<'a>(&'a self, label: &'a str, value: &'a str) -> Labels<'a> {
        vec![("job_name", &self.name), ("registry", &self.registry), (label, value)]
    }

    /// Counters that differ in one label.
    fn by<'a>(
        &'a self,
        label: &'a str,
        values: impl IntoIterator<Item = &'a str>,
        counters: &'a [AtomicU64],
    ) -> impl Iterator<Item = (Labels<'a>, u64)> {
        values.into_iter().zip(counters).map(move |(value, counter)| (self.with(label, value), read(counter)))
    }
}

impl JobObserver for Series {
    fn observe(&self, job: &JobName, fact: &JobFact<'_>) {
        if let Some(place) = self.by_name.get(job) {
            self.jobs[*place].count(fact);
        }
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}
