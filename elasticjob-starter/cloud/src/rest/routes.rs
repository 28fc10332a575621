//! The table of all routes. A route cannot be added without the role that it needs and a line that says what it does.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{MethodFilter, MethodRouter, on};
use elasticjob_console::Role;
use elasticjob_console::Role::{Admin, Operator, Viewer};
use tower_http::csrf::CsrfLayer;

use super::Api;
use super::answer::{self, Refusal};
use super::fails::Fail;
use super::openapi_answers::Answer;
use super::{apps, events, guard, jobs, logs, openapi, operate, statistics, tasks};
use crate::texts;

/// What the body of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    None,
    /// A name and a password.
    Login,
    /// An application.
    App,
    /// The name of an application, and the fields of it that change.
    AppChange,
    /// A job.
    Job,
    /// The name of a job, and the fields of it that change.
    JobChange,
    /// The name of a job and nothing else.
    Name,
}

/// A route.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// The role that it needs, for the job that the path or the body names, else for all jobs. Without one every caller
    /// may call it.
    pub(super) role: Option<Role>,
    pub(super) body: Body,
    /// The parameters after the `?`.
    pub(super) parameters: &'static [&'static str],
    /// What it answers when it has done what it is asked.
    pub(super) answer: Answer,
    /// Why it may not do so.
    pub(super) fails: &'static [Fail],
    pub(super) summary: &'static str,
    handler: fn() -> MethodRouter<Api>,
}

macro_rules! routes {
    ($($method:ident $path:literal $role:expr, $body:ident, $parameters:expr, $handler:path => $answer:ident [$($fail:ident),*],
       $summary:literal;)+) => {
        /// All routes.
        pub(super) const ROUTES: &[Route] = &[$(Route {
            method: stringify!($method), path: $path, role: $role, body: Body::$body, parameters: &$parameters,
            answer: Answer::$answer, fails: &[$(Fail::$fail),*], summary: $summary, handler: || on(MethodFilter::$method, $handler),
        }),+];
    };
}

/// What becomes of what runs.
const RUNNING: [&str; 1] = ["running"];

/// The parameters of lists of events.
const EXECUTIONS: [&str; 10] =
    ["per_page", "page", "sort", "order", "startTime", "endTime", "jobName", "taskId", "ip", "isSuccess"];
const STATES: [&str; 12] = [
    "per_page",
    "page",
    "sort",
    "order",
    "startTime",
    "endTime",
    "jobName",
    "taskId",
    "slaveId",
    "source",
    "executionType",
    "state",
];

routes! {
    GET "/api/openapi.json" None, None, [], openapi::show => Document [], "This description";
    POST "/api/login" None, Login, [], guard::log_in => Token [Body, Login], "Begins a session; its token goes into the header accessToken";
    POST "/api/app" Some(Admin), App, [], apps::register => Done [Body, State, Contended, Center, File], "Registers an app";
    PUT "/api/app" Some(Admin), AppChange, RUNNING, apps::update => Done [Body, Parameter, Missing, Contended, Center, File], "Changes the fields of an app that are given; what runs goes on, or is stopped with running=stop";
    GET "/api/app/list" Some(Viewer), None, [], apps::list => Apps [Center], "All apps";
    GET "/api/app/{app}" Some(Viewer), None, [], apps::one => App [Parameter, Missing, Center], "An app";
    DELETE "/api/app/{app}" Some(Admin), None, RUNNING, apps::remove => Done [Parameter, Missing, Contended, Center, File], "Removes an app with its jobs, and stops what runs";
    GET "/api/app/{app}/disable" Some(Viewer), None, [], apps::is_disabled => Flag [Parameter, Missing, Center], "Whether an app is disabled";
    POST "/api/app/{app}/disable" Some(Operator), None, RUNNING, apps::disable => Done [Parameter, Missing, Contended, Center, File], "Disables an app: its jobs do not fire, and what runs is stopped";
    DELETE "/api/app/{app}/disable" Some(Operator), None, [], apps::enable => Done [Parameter, Missing, Contended, Center, File], "Enables an app, as ElasticJob 2 does";
    POST "/api/app/{app}/enable" Some(Operator), None, [], apps::enable => Done [Parameter, Missing, Contended, Center, File], "Enables an app";
    POST "/api/job/register" Some(Admin), Job, [], jobs::register => Done [Body, Missing, State, Contended, Center, File], "Registers a job";
    PUT "/api/job/update" Some(Admin), JobChange, RUNNING, jobs::update => Done [Body, Parameter, Missing, Contended, Center, File], "Changes the fields of a job that are given; what runs goes on, or is stopped with running=stop";
    DELETE "/api/job/deregister" Some(Admin), Name, RUNNING, jobs::deregister_named => Done [Body, Parameter, Missing, Contended, Center, File], "Removes a job, and stops what runs";
    DELETE "/api/job/{job}/deregister" Some(Admin), None, RUNNING, jobs::deregister => Done [Parameter, Missing, Contended, Center, File], "Removes a job, and stops what runs";
    POST "/api/job/trigger" Some(Operator), Name, [], jobs::trigger => Done [Body, Missing, State, Center], "Runs a job once now; a DAEMON job does so in its processes";
    GET "/api/job/{job}/disable" Some(Viewer), None, [], jobs::is_disabled => Flag [Parameter, Missing, Center], "Whether a job is disabled";
    POST "/api/job/{job}/disable" Some(Operator), None, RUNNING, jobs::disable => Done [Parameter, Missing, Contended, Center, File], "Disables a job: it does not fire, and what runs is stopped";
    DELETE "/api/job/{job}/disable" Some(Operator), None, [], jobs::enable => Done [Parameter, Missing, Contended, Center, File], "Enables a job, as ElasticJob 2 does";
    POST "/api/job/{job}/enable" Some(Operator), None, [], jobs::enable => Done [Parameter, Missing, Contended, Center, File], "Enables a job";
    GET "/api/job/{job}/log" Some(Viewer), None, ["item", "launch", "process"], logs::log => Log [Parameter, Missing, Center, Carrier], "What an item wrote in its last run, or in the launch that is named; of a DAEMON job what a process wrote";
    GET "/api/job/jobs" Some(Viewer), None, [], jobs::list => Jobs [Center], "All jobs";
    GET "/api/job/jobs/{job}" Some(Viewer), None, [], jobs::one => Job [Parameter, Missing, Center], "A job";
    GET "/api/job/tasks/running" Some(Viewer), None, [], tasks::running => Running [Center], "The items that run, each with its place";
    GET "/api/job/tasks/ready" Some(Viewer), None, ["jobName"], tasks::ready => Ready [Center], "The jobs with items that wait, or one of them, and why";
    GET "/api/job/tasks/failover" Some(Viewer), None, [], tasks::failover => Failover [Center], "The items that were lost, with their place or with their scheduler, and do not run again so far";
    GET "/api/job/events/executions" Some(Viewer), None, EXECUTIONS, events::executions => Executions [Parameter, Traces], "Runs of items, of the 10,000 latest that match";
    GET "/api/job/events/statusTraces" Some(Viewer), None, STATES, events::states => States [Parameter, Traces], "Changes of state, of the 10,000 latest that match";
    GET "/api/job/statistics/tasks/results" Some(Viewer), None, ["since"], statistics::results => Results [Missing, Traces], "Runs that ended well and that failed, by minute";
    GET "/api/job/statistics/tasks/results/{period}" Some(Viewer), None, [], statistics::results_of => Result [Parameter, Missing, Traces], "The same for online, lastWeek, last24hours, lastHour or lastMinute";
    GET "/api/job/statistics/tasks/running" Some(Viewer), None, ["since"], statistics::running_tasks => Counts [Missing, Traces], "How many items ran at each full hour";
    GET "/api/job/statistics/jobs/running" Some(Viewer), None, ["since"], statistics::running_jobs => Counts [Missing, Traces], "How many jobs ran at each full hour";
    GET "/api/job/statistics/jobs/executionType" Some(Viewer), None, [], statistics::execution_type => Types [Center], "How many jobs are TRANSIENT and DAEMON";
    GET "/api/job/statistics/jobs/register" Some(Viewer), None, [], statistics::registered => Registered [Center], "How many of the jobs of today were registered at the end of each day";
    POST "/api/operate/reconcile/explicit" Some(Operator), None, [], operate::reconcile => Done [Carrier], "Asks the carrier again for all that is waited for";
    POST "/api/operate/reconcile/implicit" Some(Operator), None, [], operate::reconcile => Done [Carrier], "The same";
    GET "/api/operate/disabled" Some(Viewer), None, [], operate::disabled => Disabled [Center], "The names of the apps and jobs that are disabled";
    GET "/api/operate/sandbox" Some(Viewer), None, ["appName"], operate::sandbox => Sandbox [Parameter, Missing, Center, Carrier], "Where the logs of an app's launches are";
}

/// The longest body of a request, in bytes.
pub(super) const BODY_LIMIT: usize = 256 * 1_024;

pub(super) fn router(api: Api) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let guarded = (route.handler)().route_layer(from_fn_with_state((api.clone(), route.role), guard::guard));
        router = router.route(route.path, guarded);
    }
    let router = router.method_not_allowed_fallback(wrong_method);
    // A page of another origin can make a browser send a request, also to a scheduler that asks for no login.
    let router = router.layer(CsrfLayer::new()).layer(DefaultBodyLimit::max(BODY_LIMIT));
    router.layer(map_response(answer::in_own_form)).with_state(api)
}

async fn wrong_method() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, texts::wrong_method())
}
