//! A program that a scheduler of carried jobs started: it runs exactly the items that it is told, and ends.

use std::path::PathBuf;
use std::time::Duration;

use elasticjob::__private::log::{error, info, warn};
use elasticjob::carried::{ATTEMPT, CARRIED, Carried, CarriedCenter, CarriedSchedule, FAILURE, parse_launch_id};
use elasticjob::config::{Invalid, JobConfiguration, JobSettings};
use elasticjob::fire::{Fire, RunKey};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::spi::Catalog;
use futures_util::future::join_all;

use super::ElasticJobAppBuilder;
use super::signals::Signals;
use crate::AppError;
use crate::local_task::LocalTask;
use crate::plan::{JobCode, Plan, bind};
use crate::settings::{Settings, Sources};

/// How long a run that was cancelled may go on.
const AFTER_CANCEL: Duration = Duration::from_secs(5);

/// The settings of the program's job with those that the process is told.
fn told_over(carried: &Carried, mut settings: JobSettings) -> JobSettings {
    settings.sharding_total_count = Some(carried.sharding_total_count);
    let parameters = carried.sharding_item_parameters.iter().map(|(item, parameter)| format!("{item}={parameter}"));
    settings.sharding_item_parameters = Some(parameters.collect::<Vec<_>>().join(","));
    settings.job_parameter = carried.job_parameter.clone().or(settings.job_parameter);
    settings.props.get_or_insert_default().extend(carried.props.clone());
    settings
}

/// The same for what a launch does not need. The registration is the source of the configuration, so it is written over what
/// the registry center has.
fn scheduled_over(schedule: &CarriedSchedule, mut settings: JobSettings) -> JobSettings {
    settings.cron = schedule.cron.clone().or(settings.cron);
    settings.time_zone = schedule.time_zone.clone().or(settings.time_zone);
    settings.misfire = Some(schedule.misfire);
    settings.failover = Some(schedule.failover);
    if schedule.failover {
        settings.monitor_execution = Some(true);
    }
    settings.job_error_handler_type = schedule.job_error_handler_type.clone().or(settings.job_error_handler_type);
    settings.description = schedule.description.clone().or(settings.description);
    settings.overwrite = Some(true);
    settings
}

/// The items that the program runs.
#[derive(Debug)]
pub(super) struct CarriedRun {
    job: JobName,
    tasks: Vec<(ShardingItem, LocalTask)>,
    failure: Option<PathBuf>,
}

/// What the environment tells of the items to run. `None` for a program that schedules by itself.
pub(super) fn read(sources: &Sources) -> Result<Option<(Carried, Fire)>, AppError> {
    let Some(carried) = told(sources)? else { return Ok(None) };
    let Some(launch) = &carried.launch else { return Ok(None) };
    let (_, fire) = parse_launch_id(launch).ok_or_else(|| wrong(format!("'{launch}' is no launch")))?;
    Ok(Some((carried, fire)))
}

/// Gives a process of a `DAEMON` job the registry center of its scheduler, where the program sets none. Else each process would
/// run all items, on the embedded registry.
pub(super) fn complete(sources: &Sources, settings: &mut Settings) -> Result<(), AppError> {
    let schedule = told(sources)?.and_then(|carried| carried.schedule);
    if let Some(CarriedCenter { server_lists, namespace }) = schedule.and_then(|schedule| schedule.registry_center)
        && settings.reg_center.server_lists.is_empty()
    {
        settings.reg_center.server_lists = server_lists.split(',').map(|server| server.trim().to_owned()).collect();
        settings.reg_center.namespace.get_or_insert(namespace);
    }
    Ok(())
}

/// Gives a job of the program the configuration that a process of a `DAEMON` job is told. The other jobs of the program stay.
pub(super) fn configure(sources: &Sources, plan: &mut Plan, catalog: &Catalog) -> Result<(), AppError> {
    let Some(mut carried) = told(sources)? else { return Ok(()) };
    let Some(schedule) = &carried.schedule else { return Ok(()) };
    let name = &carried.job;
    let Some(planned) = plan.jobs.iter_mut().find(|job| job.configuration.job_name() == name) else {
        warn!(job = %name, "the program has no job of this name: what is registered for the job has no effect on its jobs");
        return Ok(());
    };
    if carried.sharding_item_parameters.is_empty() {
        // Those of the program. It may have some for items that the job does not have, which a configuration may not.
        let of_program = |item| Some((item, planned.configuration.sharding_parameter(item)?.to_owned()));
        carried.sharding_item_parameters = (0..carried.sharding_total_count).filter_map(of_program).collect();
    }
    let settings = scheduled_over(schedule, told_over(&carried, planned.configuration.settings()));
    let configuration = JobConfiguration::from_settings(name.clone(), &settings).and_then(|configuration| {
        let at_start = catalog.error_handlers().problems_at_start(&configuration);
        let problems = [catalog.problems(&configuration), at_start].concat();
        if problems.is_empty() { Ok(configuration) } else { Err(problems) }
    });
    planned.configuration = configuration.map_err(|problems| unusable(name, &problems))?;
    Ok(())
}

/// The configuration that a process is told cannot be used.
fn unusable(job: &JobName, problems: &[Invalid]) -> AppError {
    let why = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    AppError::Carried { job: Some(job.clone()), why }
}

/// Of how many runs one is traced: 1 unless the environment of a `DAEMON` process says something else.
pub(super) fn one_traced_of(sources: &Sources) -> Result<u32, AppError> {
    Ok(told(sources)?.map_or(1, |carried| carried.event_trace_sampling_count.max(1)))
}

fn told(sources: &Sources) -> Result<Option<Carried>, AppError> {
    let text = sources.variable(CARRIED);
    text.map(|text| serde_json::from_str(text).map_err(|error| wrong(error.to_string()))).transpose()
}

fn wrong(why: String) -> AppError {
    AppError::Carried { job: None, why: format!("{CARRIED} cannot be used: {why}") }
}

/// Finds the code of the job and makes the runs of its items. Nothing is connected: the scheduler keeps the records.
pub(super) fn run_of(
    (carried, fire): (Carried, Fire),
    plan: &Plan,
    builder: &ElasticJobAppBuilder,
    catalog: &Catalog,
) -> Result<CarriedRun, AppError> {
    let name = carried.job.clone();
    let wrong = |why: String| AppError::Carried { job: Some(name.clone()), why };
    let planned = plan.jobs.iter().find(|job| *job.configuration.job_name() == name).ok_or_else(|| {
        let known: Vec<&str> = plan.jobs.iter().map(|job| job.configuration.job_name().as_str()).collect();
        wrong(format!("the program has no job of this name; it has {}", known.join(", ")))
    })?;
    let settings = told_over(&carried, planned.configuration.settings());
    let configuration =
        JobConfiguration::from_settings(name.clone(), &settings).map_err(|problems| unusable(&name, &problems))?;
    let handler = match &planned.code {
        JobCode::Function(function) => bind(name.as_str(), function, &builder.beans)
            .map_err(|missing| AppError::Invalid(missing.into_iter().map(Into::into).collect()))?,
        JobCode::Given(handler) => handler.clone(),
        JobCode::Type => {
            let kind = planned.configuration.job_type().unwrap_or_default();
            catalog.job_types().get(kind).map_err(|error| wrong(error.to_string()))?.handler().clone()
        }
    };
    let key = RunKey::new(fire, carried.source);
    // A scheduler of an earlier release tells none.
    let attempt = builder.sources.variable(ATTEMPT).map_or(Ok(1), str::parse);
    let attempt = attempt.map_err(|error| wrong(format!("{ATTEMPT} cannot be used: {error}")))?;
    let tasks = carried.items.into_iter().map(|item| {
        let task = LocalTask::new(handler.clone(), configuration.clone(), item);
        (item, task.of_fire(key, carried.fencing_token, attempt))
    });
    Ok(CarriedRun { job: name, tasks: tasks.collect(), failure: builder.sources.variable(FAILURE).map(PathBuf::from) })
}

impl CarriedRun {
    /// Runs the items to their end. After a signal they have the grace time.
    ///
    /// # Errors
    /// [`AppError::Carried`] when an item failed. The file for it has the same text.
    pub(super) async fn run(self, grace: Duration, signals: &mut Signals) -> Result<(), AppError> {
        info!(job = %self.job, items = ?self.tasks.iter().map(|(item, _)| item).collect::<Vec<_>>(), "starting the items");
        let tokens: Vec<_> =
            self.tasks.iter().map(|(_, task)| (task.stop_token(), task.cancellation_token())).collect();
        let runs = self.tasks.into_iter().map(|(item, task)| async move { (item, task.run().await) });
        let ends = join_all(runs);
        tokio::pin!(ends);
        let ends = tokio::select! {
            ends = &mut ends => Some(ends),
            signal = signals.next() => {
                info!(job = %self.job, "{signal}: the items must end within {grace:?}");
                tokens.iter().for_each(|(stop, _)| stop.cancel());
                match tokio::time::timeout(grace, &mut ends).await {
                    Ok(ends) => Some(ends),
                    Err(_) => {
                        tokens.iter().for_each(|(_, cancel)| cancel.cancel());
                        tokio::time::timeout(AFTER_CANCEL, &mut ends).await.ok()
                    }
                }
            }
        };
        let failed: Vec<String> = match ends {
            None => vec!["it was stopped, and did not end in time".to_owned()],
            Some(ends) => {
                ends.into_iter().filter_map(|(item, end)| Some(format!("item {item}: {}", end.err()?))).collect()
            }
        };
        if failed.is_empty() {
            return Ok(());
        }
        let why = failed.join("; ");
        if let Some(file) = &self.failure
            && let Err(error) = std::fs::write(file, &why)
        {
            error!("why the items failed is not written to {}: {error}", file.display());
        }
        Err(AppError::Carried { job: Some(self.job), why })
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::api::{ShardingContext, item_handler};
    use elasticjob::fire::{Fire, Rerun};

    use super::*;

    #[test]
    fn a_program_is_carried_only_where_it_is_told_a_launch() {
        let sources = |text: &str| Sources::of_arguments([""; 0]).environment([(CARRIED, text)]);
        assert!(read(&Sources::of_arguments([""; 0]).environment([("A", "b")])).expect("it is not told").is_none());
        let daemon = sources(r#"{"job":"a","launch":null,"shardingTotalCount":2}"#);
        assert!(read(&daemon).expect("it is a daemon").is_none());
        assert_eq!(one_traced_of(&daemon).expect("it is right"), 1);
        let sampled = sources(r#"{"job":"a","shardingTotalCount":2,"eventTraceSamplingCount":5}"#);
        assert_eq!(one_traced_of(&sampled).expect("it is right"), 5);
        let manual = sources(r#"{"job":"a","launch":"a/manual@0x2a@7","items":[1],"shardingTotalCount":2}"#);
        let (carried, fire) = read(&manual).expect("it is right").expect("it is carried");
        assert_eq!((carried.items, fire), (vec![1], Fire::manual(42, 7, None)));
        let again = sources(r#"{"job":"a","launch":"a/manual@0x2a@7@of@3@6","items":[1],"shardingTotalCount":2}"#);
        let (_, fire) = read(&again).expect("it is right").expect("it is carried");
        assert_eq!((fire.rerun(), fire.scheduled_for()), (Some(Rerun::new(3, 6)), 3));
        for wrong in [
            "",
            "{}",
            r#"{"job":"a","launch":"a/weekly@1","shardingTotalCount":2}"#,
            r#"{"job":"a","launch":"a/manual@0x2a@7@of@3","shardingTotalCount":2}"#,
        ] {
            assert!(read(&sources(wrong)).expect_err("it is wrong").to_string().contains(CARRIED), "{wrong}");
        }
    }

    /// Runs the program as a carried process of item 1 of three.
    async fn carried(
        fails: bool,
        attempt: Option<&str>,
        failure: &std::path::Path,
    ) -> (Result<(), AppError>, Vec<String>) {
        let (told, mut runs) = tokio::sync::mpsc::unbounded_channel();
        let job = item_handler(move |context: ShardingContext| {
            let (item, total) = (context.sharding_item(), context.sharding_total_count());
            let token = (context.fencing_token(), context.attempt());
            let run = format!("{item} of {total} {:?} {token:?}", context.sharding_parameter());
            let _ = told.send(run);
            async move { if fails { Err("the table is locked") } else { Ok(()) } }
        });
        let attempt = attempt.map(|attempt| (ATTEMPT, attempt));
        let carried = r#"{"job":"a","launch":"a/scheduled@1000","items":[1],"fencingToken":7,"shardingTotalCount":3,
                          "shardingItemParameters":{"1":"north"}}"#;
        let sources = Sources::of_arguments([
            "--elasticjob.jobs[a].sharding-total-count=1",
            "--elasticjob.jobs[a].cron=* * * * * ?",
        ])
        .environment([(CARRIED, carried), (FAILURE, failure.to_str().expect("it is text"))].into_iter().chain(attempt));
        let ended = match crate::ElasticJobApp::builder().job("a", job).sources(sources).start().await {
            Ok(app) => app.until_shutdown().await,
            Err(error) => Err(error),
        };
        (ended, std::iter::from_fn(|| runs.try_recv().ok()).collect())
    }

    #[tokio::test]
    async fn a_carried_program_runs_exactly_its_items_and_says_why_it_failed() {
        let file = std::env::temp_dir().join(format!("elasticjob-carried-{}", std::process::id()));
        let ran = |attempt: u32| vec![format!(r#"1 of 3 Some("north") (Some(7), {attempt})"#)];
        let (ended, runs) = carried(false, Some("2"), &file).await;
        assert!(ended.is_ok() && runs == ran(2) && !file.exists(), "{ended:?} {runs:?}");
        let (ended, runs) = carried(false, Some("two"), &file).await;
        assert!(ended.is_err_and(|error| error.to_string().contains(ATTEMPT)) && runs.is_empty(), "{runs:?}");
        let (ended, runs) = carried(true, None, &file).await;
        assert_eq!(ended.expect_err("it fails").to_string(), "carried job 'a': item 1: the table is locked");
        assert_eq!(runs, ran(1));
        assert_eq!(std::fs::read_to_string(&file).expect("it is written"), "item 1: the table is locked");
        std::fs::remove_file(&file).expect("it is there");
    }

    /// The parameter of item 1, and that of the job with its number of items, which a process of a `DAEMON` job runs with.
    async fn of_item_1(carried: &str, more: &[&str]) -> (Option<String>, (String, u32)) {
        let (told, mut runs) = tokio::sync::mpsc::unbounded_channel();
        let job = item_handler(move |context: ShardingContext| {
            let of_job = (context.job_parameter().to_owned(), context.sharding_total_count());
            let _ = told.send((context.sharding_item(), context.sharding_parameter().map(str::to_owned), of_job));
            async { Ok::<(), String>(()) }
        });
        let own = ["--elasticjob.jobs[a].cron=0 0 3 1 1 ?", "--elasticjob.jobs[a].monitor-execution=false"];
        let sources = Sources::of_arguments([&own[..], more].concat()).environment([(CARRIED, carried)]);
        let app = crate::ElasticJobApp::builder().job("a", job).sources(sources).start().await.expect("it starts");
        let of_item_1 = async {
            loop {
                let (item, parameter, of_job) = runs.recv().await.expect("it runs");
                if item == 1 {
                    return (parameter, of_job);
                }
            }
        };
        let run = tokio::time::timeout(Duration::from_secs(60), of_item_1).await.expect("it fires each second");
        app.shutdown().await;
        run
    }

    #[tokio::test]
    async fn a_process_of_a_daemon_schedules_by_what_is_registered() {
        let carried = r#"{"job":"a","launch":null,"shardingTotalCount":2,"shardingItemParameters":{"1":"north"},
                          "jobParameter":"all","schedule":{"cron":"* * * * * ?","failover":true,"misfire":true}}"#;
        let run = of_item_1(carried, &["--elasticjob.jobs[a].sharding-total-count=1"]).await;
        assert_eq!(run, (Some("north".to_owned()), ("all".to_owned(), 2)));
    }

    #[tokio::test]
    async fn a_process_of_a_daemon_has_the_parameters_of_its_program_where_none_are_registered() {
        let carried = r#"{"job":"a","launch":null,"shardingTotalCount":2,"shardingItemParameters":{},
                          "schedule":{"cron":"* * * * * ?"}}"#;
        let own = [
            "--elasticjob.jobs[a].sharding-total-count=3",
            "--elasticjob.jobs[a].sharding-item-parameters=0=south,1=west,2=east",
            "--elasticjob.jobs[a].job-parameter=some",
        ];
        // The program has a parameter for an item that the job does not have.
        assert_eq!(of_item_1(carried, &own).await, (Some("west".to_owned()), ("some".to_owned(), 2)));
    }

    #[test]
    fn a_process_of_a_daemon_has_the_registry_center_of_the_scheduler_unless_the_program_sets_one() {
        let carried = r#"{"job":"a","shardingTotalCount":2,
                          "schedule":{"registryCenter":{"serverLists":"a:1, b:2","namespace":"shop"}}}"#;
        for (own, servers, namespace) in [
            (vec![], "a:1,b:2", "shop"),
            (vec!["--elasticjob.reg-center.namespace=own"], "a:1,b:2", "own"),
            (vec!["--elasticjob.reg-center.server-lists=c:3", "--elasticjob.reg-center.namespace=own"], "c:3", "own"),
        ] {
            let sources = Sources::of_arguments(own).environment([(CARRIED, carried)]);
            let mut settings = Settings::read(&sources, &[], Default::default()).settings;
            complete(&sources, &mut settings).expect("it is right");
            assert_eq!(settings.reg_center.server_lists.join(","), servers);
            assert_eq!(settings.reg_center.namespace.as_deref(), Some(namespace));
        }
    }
}
