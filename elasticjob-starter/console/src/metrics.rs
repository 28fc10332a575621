//! `/metrics`: the state of the jobs in the registry centers, for Prometheus. Names and meanings: `docs/guide/metrics.md`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::ident::JobName;
use elasticjob::operations::{JobOverview, JobState, Listed, ServerBrief};
use elasticjob::registry::SessionState;
use elasticjob_openmetrics::{Labels, Page};
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::access::LOGINS;
use crate::app::App;
use crate::here::Who;
use crate::registries::Registry;
use crate::requests::Key;

/// The longest cron expression in a label, in characters.
const LONGEST_CRON: usize = 120;

/// A registry center at a scrape.
struct Scraped {
    name: String,
    /// It is connected, and the jobs are as it has them.
    is_up: bool,
    /// `None` where nothing was read yet.
    listed: Option<Listed>,
    servers: Vec<ServerBrief>,
}

/// A registry center that is connected and gives no answer for so long counts as not read: Prometheus waits for 10 s.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// What is known of a registry center, with the jobs that the caller may see.
async fn scrape(registry: &Registry, who: &Who) -> Scraped {
    let name = registry.name().to_owned();
    let is_connected = matches!(*registry.center().session().borrow(), SessionState::Connected { .. });
    let sees = |job: &JobName| who.identity.sees_job(&name, job.as_str());
    let read = async {
        let mut listed = registry.catalogue().jobs().await.ok()?;
        listed.jobs.retain(|job| sees(&job.job));
        Some((listed, registry.catalogue().servers(sees).await.unwrap_or_default()))
    };
    let (listed, servers) = timeout(READ_WITHIN, read).await.ok().flatten().unzip();
    let is_up = is_connected && listed.as_ref().is_some_and(|listed: &Listed| listed.lost_since.is_none());
    Scraped { name, is_up, listed, servers: servers.unwrap_or_default() }
}

/// The page, with the jobs that the caller may see.
pub(crate) async fn show(State(app): State<App>, who: Who, headers: HeaderMap) -> Response {
    // Side by side: one that is connected and does not answer must not hold up what is known of the others.
    let seen = app.registries.values().filter(|registry| who.identity.sees_registry(registry.name()));
    let registries = join_all(seen.map(|registry| scrape(registry, &who))).await;
    let streams = app.streams.open();
    let logins = app.access.logins();
    let requests = app.requests.counts();
    let text = elasticjob_openmetrics::text(move |page| {
        write_console(page, &registries, streams, logins)?;
        write_requests(page, &requests)?;
        write_servers(page, &registries)?;
        write_jobs(page, &Jobs(&registries))
    });
    elasticjob_openmetrics::answer(&headers, text)
}

fn write_console(page: &mut Page<'_>, registries: &[Scraped], streams: usize, logins: [u64; 3]) -> fmt::Result {
    let build = vec![("version", env!("CARGO_PKG_VERSION"))];
    page.gauges("elasticjob_console_build_info", "The version of the console.", [(build, 1.0)])?;
    let up = registries.iter().map(|it| (vec![("registry", it.name.as_str())], flag(it.is_up)));
    page.gauges("elasticjob_console_registry_up", "Whether the registry center is connected and was read.", up)?;
    let lost = registries.iter().filter_map(|it| {
        let since = it.listed.as_ref()?.lost_since?;
        Some((vec![("registry", it.name.as_str())], seconds(since)))
    });
    let help = "Since when the registry center is lost: the jobs are as they were then.";
    page.gauges("elasticjob_console_registry_lost_since_timestamp_seconds", help, lost)?;
    page.gauges("elasticjob_console_streams", "Pages that are kept up to date.", [(Vec::new(), count(streams))])?;
    let logins = LOGINS.into_iter().zip(logins).map(|(result, count)| (vec![("result", result)], count));
    page.counters("elasticjob_console_logins", "Attempts to log in.", logins)
}

fn write_servers(page: &mut Page<'_>, registries: &[Scraped]) -> fmt::Result {
    let numbers: [(&str, &str, OfServer); 2] = [
        ("instances", "Instances that are online on a server, each once, however many jobs it has.", |it| {
            it.instances.len()
        }),
        ("disabled_jobs", "Jobs in which the server is disabled.", |it| it.disabled_jobs),
    ];
    for (name, help, of) in numbers {
        let all = registries.iter().flat_map(|registry| registry.servers.iter().map(move |it| (&registry.name, it)));
        let series = all.map(|(registry, it)| {
            (vec![("registry", registry.as_str()), ("server", it.server.as_str())], count(of(it)))
        });
        page.gauges(&format!("elasticjob_server_{name}"), help, series)?;
    }
    Ok(())
}

fn write_requests(page: &mut Page<'_>, requests: &BTreeMap<Key, u64>) -> fmt::Result {
    let series = requests.iter().map(|(key, count)| {
        (vec![("route", key.route.as_str()), ("method", key.method), ("status", key.status)], *count)
    });
    page.counters(
        "elasticjob_console_http_requests",
        "Requests that the console answered, also those that it refused.",
        series,
    )
}

fn write_jobs(page: &mut Page<'_>, jobs: &Jobs<'_>) -> fmt::Result {
    let info = jobs.each(|job| {
        let cron = job.cron.as_deref().unwrap_or_default();
        let end = cron.char_indices().nth(LONGEST_CRON).map_or(cron.len(), |(end, _)| end);
        let total = job.items.total.to_string();
        [(vec![("cron", cron[..end].to_owned()), ("time_zone", zone(job)), ("sharding_total_count", total)], 1.0)]
    });
    write(page, "elasticjob_job_info", "The schedule of a job; a one-off job has no cron expression.", info)?;
    let status = jobs.each(|job| {
        JobState::ALL.map(|state| (vec![("status", state.as_str().to_lowercase())], flag(job.state == state)))
    });
    write(page, "elasticjob_job_status", "1 at the status that the job has.", status)?;
    let times: [(&str, &str, Of<Option<i64>>); 6] = [
        ("next_fire", "The next scheduled fire.", |job| job.next_fire),
        ("last_fire", "The scheduled time of the fire that was begun last.", |job| {
            job.last.as_ref().map(|last| last.at)
        }),
        ("last_success", "The earliest of the ends of the last successful run of each item.", |job| job.last_success),
        ("configuration_changed", "When the configuration was written last.", |job| job.configured),
        ("oldest_run_start", "The begin of the oldest run that goes on.", |job| job.running_since),
        ("overdue_since", "The earliest fire that should have begun and has not.", |job| {
            job.overdue.map(|overdue| overdue.since)
        }),
    ];
    for (name, help, of) in times {
        let series = jobs.each(|job| of(job).map(|time| (Vec::new(), seconds(time))));
        write(page, &format!("elasticjob_job_{name}_timestamp_seconds"), help, series)?;
    }
    let items = jobs.each(|job| {
        let items = job.items;
        let states = [
            ("running", items.running),
            ("pending", items.pending),
            ("disabled", items.disabled),
            ("unassigned", items.unassigned),
            ("lost", items.lost),
        ];
        states.map(|(state, number)| (vec![("state", state.to_owned())], count(number)))
    });
    write(page, "elasticjob_job_items", "Items by what they do. An item may be in several states.", items)?;
    let overdue = jobs.each(|job| {
        let items = job.overdue.map_or(0, |overdue| overdue.items);
        job.overdue_is_known.then(|| (Vec::new(), count(items)))
    });
    write(page, "elasticjob_job_overdue_items", "Items with a fire that should have begun and has not.", overdue)?;
    let numbers: [(&str, &str, Of<usize>); 7] = [
        ("failed_items", "Items whose last run failed, or was not finished.", |job| job.failed.len()),
        (
            "refusing_instances",
            "Instances whose programs cannot use the configuration in the registry center.",
            |job| job.refusing_instances,
        ),
        (
            "daemon_ends",
            "How often a process of a carried DAEMON job has ended soon after its start, since it was well.",
            |job| usize::try_from(job.daemon_ends).unwrap_or(usize::MAX),
        ),
        (
            "waiting_items",
            "Items of a carried job that were launched and have not started; 1 for a DAEMON job with a process that does not start.",
            |job| job.carried_waits,
        ),
        ("instances", "Instances that are online.", |job| job.instances),
        ("leader", "Whether an instance leads.", |job| usize::from(job.has_leader)),
        ("servers", "Servers that the job knows.", |job| job.servers),
    ];
    for (name, help, of) in numbers {
        let series = jobs.each(|job| [(Vec::new(), count(of(job)))]);
        write(page, &format!("elasticjob_job_{name}"), help, series)?;
    }
    Ok(())
}

/// The jobs of all registry centers.
struct Jobs<'a>(&'a [Scraped]);

/// A number of a server.
type OfServer = fn(&ServerBrief) -> usize;

/// A value that a job has.
type Of<T> = fn(&JobOverview) -> T;

/// Labels beside those of the job.
type Own = Vec<(&'static str, String)>;

/// A series of a job: its registry center, its name, its own labels and its value.
type Series<'a> = (&'a str, &'a str, Own, f64);

impl<'a> Jobs<'a> {
    /// Series of each job.
    fn each<S: IntoIterator<Item = (Own, f64)>>(&self, of: impl Fn(&JobOverview) -> S) -> Vec<Series<'a>> {
        let mut series = Vec::new();
        for registry in self.0 {
            for job in registry.listed.iter().flat_map(|listed| &listed.jobs) {
                let own = of(job).into_iter();
                series.extend(own.map(|(labels, value)| (registry.name.as_str(), job.job.as_str(), labels, value)));
            }
        }
        series
    }
}

fn write(page: &mut Page<'_>, name: &str, help: &str, series: Vec<Series<'_>>) -> fmt::Result {
    let series = series.iter().map(|(registry, job, own, value)| {
        let mut labels: Labels<'_> = vec![("job_name", job), ("registry", registry)];
        labels.extend(own.iter().map(|(name, value)| (*name, value.as_str())));
        (labels, *value)
    });
    page.gauges(name, help, series)
}

fn zone(job: &JobOverview) -> String {
    job.time_zone.map(|zone| zone.to_string()).unwrap_or_default()
}

/// Milliseconds since 1970 as seconds.
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1_000.0
}

fn count(number: usize) -> f64 {
    number as f64
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

#[cfg(test)]
mod tests;
