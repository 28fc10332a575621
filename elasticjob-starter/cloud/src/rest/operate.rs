//! `/api/operate`.

use axum::Json;
use axum::extract::Query;
use elasticjob_console::Role;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::answer::Refusal;
use super::guard::{Parameters, Visitor};
use crate::carrier::LaunchId;
use crate::texts;

/// What is encoded in a segment of a path: all but the characters that never have a meaning there.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same in a parameter, where the id of a launch can have its delimiters as they are.
const PARAMETER: &AsciiSet = &SEGMENT.remove(b'/').remove(b'@');

/// Asks the carrier again for everything that this scheduler waits for. ElasticJob-Cloud has two ways to ask Mesos; a carrier
/// has one.
pub(super) async fn reconcile(visitor: Visitor) -> Result<Json<bool>, Refusal> {
    visitor.needs_for_all(Role::Operator)?;
    visitor.api.scheduler.reconcile().await?;
    Ok(Json(true))
}

/// The names of the applications and jobs that are disabled.
pub(super) async fn disabled(visitor: Visitor) -> Result<Json<Value>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    let jobs: Vec<_> = all.disabled_jobs.iter().filter(|job| visitor.may(Role::Viewer, job.as_str())).collect();
    let apps: Vec<_> = all.disabled_apps.iter().filter(|app| visitor.may_with_app(Role::Viewer, app, &all)).collect();
    Ok(Json(json!({ "apps": apps, "jobs": jobs })))
}

/// Where the logs of an application's launches are.
pub(super) async fn sandbox(
    visitor: Visitor,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let name = parameters.get("appName").ok_or_else(|| Refusal::bad(texts::app_name_missing()))?;
    let all = visitor.api.scheduler.registrations_now().await?;
    visitor.needs_with_app(Role::Viewer, name, &all)?;
    if !all.apps.contains_key(name) {
        return Err(Refusal::not_found(texts::no_such_app(name)));
    }
    let carrier = visitor.api.scheduler.carrier();
    let place = carrier.place();
    let is_of_app = |job: &elasticjob::ident::JobName| {
        all.jobs.get(job).is_some_and(|job| job.app_name == *name) && visitor.may(Role::Viewer, job.as_str())
    };
    let launches = carrier.launches().await?.into_iter().filter(|id| is_of_app(&id.job));
    let row = |id: LaunchId| json!({ "hostname": place, "path": path_of_log(&id), "jobName": id.job, "launch": id.to_string() });
    Ok(Json(launches.map(row).collect()))
}

/// The address of the log of a launch. The name of a job may have characters that have a meaning in an address.
fn path_of_log(id: &LaunchId) -> String {
    let (job, launch) = (id.job.as_str(), id.to_string());
    format!("/api/job/{}/log?launch={}", utf8_percent_encode(job, SEGMENT), utf8_percent_encode(&launch, PARAMETER))
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;
    use elasticjob::fire::Fire;
    use elasticjob::ident::JobName;

    use super::*;

    #[test]
    fn the_address_of_a_log_leads_to_it_whatever_the_name_of_the_job_is() {
        for (name, path) in [
            ("my_job-1.a", "/api/job/my_job-1.a/log?launch=my_job-1.a/scheduled@5"),
            ("a b", "/api/job/a%20b/log?launch=a%20b/scheduled@5"),
            ("a&b=c#d?e%20+f", "/api/job/a%26b%3Dc%23d%3Fe%2520%2Bf/log?launch=a%26b%3Dc%23d%3Fe%2520%2Bf/scheduled@5"),
            ("作业", "/api/job/%E4%BD%9C%E4%B8%9A/log?launch=%E4%BD%9C%E4%B8%9A/scheduled@5"),
        ] {
            let id = LaunchId { job: JobName::new(name).unwrap(), fire: Fire::Scheduled(5) };
            assert_eq!(path_of_log(&id), path);
            let address: Uri = path.parse().unwrap();
            let Query(parameters) = Query::<Parameters>::try_from_uri(&address).unwrap();
            assert_eq!(parameters["launch"], id.to_string());
        }
    }
}
