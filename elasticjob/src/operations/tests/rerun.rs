use super::*;
use crate::fire::TriggerData;

/// New year of 2026, a fire of a job that runs at the turn of the year.
pub(super) const NEW_YEAR: i64 = 1_767_225_600_000;

/// A job after another one.
fn after(job: &str, parent: &str) -> JobConfigurationBuilder {
    JobConfiguration::builder(job, 1).depends_on([parent])
}

async fn refused(desk: &Desk, job: &str, fire: i64) -> String {
    desk.operations.rerun(&name(job), fire).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_past_fire_is_run_again_with_its_time_and_the_jobs_after_it_follow() {
    let desk = Desk::new();
    let (first, mut extracts) = reporter();
    let (second, mut loads) = reporter();
    let (third, mut tidies) = reporter();
    let (never, mut told) = reporter();
    let extract = desk.start(once_a_year("extract", 2), first).await;
    let _load = desk.start(after("load", "extract"), second).await;
    let _tidy = desk.start(after("tidy", "load when ended"), third).await;
    let _tell = desk.start(after("tell", "load when failed"), never).await;
    soon(async {
        for job in ["load", "tidy", "tell"] {
            while desk.text(&format!("/{job}/dependencies")).await.is_none() {
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
    let asked = desk.operations.rerun(&name("extract"), NEW_YEAR).await.unwrap();
    let me = extract.handle().status().borrow().instance.clone();
    assert_eq!(asked.instances.iter().map(|one| &one.instance).collect::<Vec<_>>(), [&me]);
    assert_eq!((asked.rerun.of, &asked.follow[..]), (NEW_YEAR, &["load", "tell", "tidy"].map(name)[..]));
    let is_it = |run: crate::api::ShardingContext| {
        assert_eq!(run.scheduled_at().timestamp_millis(), NEW_YEAR, "{}", run.job_name());
        assert_eq!(run.rerun(), Some(asked.rerun), "{}", run.job_name());
        run.sharding_item()
    };
    let mut items = [is_it(soon(extracts.recv()).await.unwrap()), is_it(soon(extracts.recv()).await.unwrap())];
    items.sort_unstable();
    assert_eq!(items, [0, 1]);
    assert_eq!(is_it(soon(loads.recv()).await.unwrap()), 0);
    assert_eq!(is_it(soon(tidies.recv()).await.unwrap()), 0);
    soon(async {
        let decided = || async {
            let text = desk.text("/tell/dependencies").await.unwrap();
            DependencyRecord::parse(text.as_bytes()).unwrap().reruns.pop().unwrap()
        };
        while decided().await.decided.is_none() {
            tokio::task::yield_now().await;
        }
        assert!(decided().await.skipped.is_some());
    })
    .await;
    assert!(told.try_recv().is_err() && extracts.try_recv().is_err() && loads.try_recv().is_err());

    // From the middle of the chain on, for the fire that it has run again.
    let asked = desk.operations.rerun(&name("load"), NEW_YEAR).await.unwrap();
    assert_eq!(asked.follow, ["tell", "tidy"].map(name));
    for runs in [&mut loads, &mut tidies] {
        assert_eq!(soon(runs.recv()).await.unwrap().rerun(), Some(asked.rerun));
    }
    assert!(extracts.try_recv().is_err(), "the jobs before it are not asked");
}

#[tokio::test]
async fn what_is_no_fire_is_refused_with_the_nearest_ones() {
    let desk = Desk::new();
    let (handler, _runs) = reporter();
    let _yearly = desk.start(once_a_year("yearly", 1), handler.clone()).await;
    let _after = desk.start(after("after", "yearly"), handler.clone()).await;
    let _plain = desk.start(once_a_year("plain", 1).monitor_execution(false), handler).await;
    let none = refused(&desk, "yearly", NEW_YEAR + 1_000).await;
    let nearest = "nothing was run again: job 'yearly' has no fire at 2026-01-01T00:00:01+00:00; nearest: 2026-01-01T00:00:00+00:00";
    assert!(none.starts_with(nearest), "{none}");
    let to_come = refused(&desk, "yearly", 4_102_444_800_000).await;
    assert_eq!(to_come, "nothing was run again: the fire of job 'yearly' at 2100-01-01T00:00:00+00:00 is to come");
    let unknown = refused(&desk, "after", NEW_YEAR).await;
    assert!(unknown.contains("knows of no fire of it yet"), "{unknown}");
    soon(async {
        while desk.text("/after/dependencies").await.is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let decided = format!(r#"{{"through":{NEW_YEAR},"decided":[{{"at":{NEW_YEAR}}}]}}"#);
    desk.write(&[("/after/dependencies", &decided)]).await;
    let unknown = refused(&desk, "after", NEW_YEAR + 1).await;
    assert!(unknown.contains("does not know of a fire at") && unknown.contains("; it knows 202"), "{unknown}");
    assert!(refused(&desk, "plain", NEW_YEAR).await.contains("monitor-execution of job 'plain' is off"));
    assert!(refused(&desk, "nobody", NEW_YEAR).await.starts_with("there is no job 'nobody'"));
    assert_eq!(desk.operations.names("/yearly/trigger".into()).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_re_run_that_no_instance_would_take_whole_is_refused_as_a_trigger_is() {
    let desk = Desk::new();
    let config = "cron: 0 0 0 1 1 ?\ntimeZone: UTC\nshardingTotalCount: 1\nmonitorExecution: true\n";
    desk.write(&[("/job/config", config), ("/job/servers/10.0.0.1", "DISABLED")]).await;
    assert!(refused(&desk, "job", NEW_YEAR).await.contains("no instance of job 'job' is online"));
    desk.write(&[("/job/instances/10.0.0.1@-@7", "")]).await;
    assert!(refused(&desk, "job", NEW_YEAR).await.contains("are disabled; enable one"));
    desk.write(&[("/job/servers/10.0.0.1", "ENABLED")]).await;
    let asked = desk.operations.rerun(&name("job"), NEW_YEAR).await.unwrap();
    let trigger = desk.text("/job/trigger/10.0.0.1@-@7").await.unwrap();
    assert_eq!(TriggerData::parse(trigger.as_bytes(), 0), asked.rerun.into());
    let again = refused(&desk, "job", NEW_YEAR).await;
    assert!(again.contains("a manual trigger of job 'job' waits for 10.0.0.1@-@7"), "{again}");
    let oneoff = "shardingTotalCount: 1\nmonitorExecution: true\n";
    desk.write(&[("/job/config", oneoff)]).await;
    assert!(refused(&desk, "job", NEW_YEAR).await.contains("job 'job' has no fires"));
}

#[tokio::test]
async fn a_re_run_that_a_job_after_could_not_keep_is_refused_and_nothing_is_written() {
    let desk = Desk::new();
    let config = "cron: 0 0 0 1 1 ?\ntimeZone: UTC\nshardingTotalCount: 1\nmonitorExecution: true\n";
    let after = "shardingTotalCount: 1\nmonitorExecution: true\nprops:\n  elasticjob.depends-on: job\n";
    let waiting: Vec<String> =
        (1..=16).map(|asked| format!(r#"{{"of":{NEW_YEAR},"asked":{asked},"from":"job"}}"#)).collect();
    let behind = format!(r#"{{"through":{NEW_YEAR},"reruns":[{}]}}"#, waiting.join(","));
    desk.write(&[("/job/config", config), ("/job/servers/10.0.0.1", "ENABLED"), ("/job/instances/10.0.0.1@-@7", "")])
        .await;
    desk.write(&[("/after/config", after), ("/after/dependencies", &behind)]).await;
    let why = refused(&desk, "job", NEW_YEAR).await;
    assert!(
        why.contains("job 'after', which runs after job 'job', has as many re-runs to follow as it can keep"),
        "{why}"
    );
    assert_eq!(desk.text("/after/dependencies").await, Some(behind));
    assert_eq!(desk.text("/job/trigger/10.0.0.1@-@7").await, None);
    let one_decided =
        desk.text("/after/dependencies").await.unwrap().replacen(r#""from":"job"}"#, r#""from":"job","decided":7}"#, 1);
    desk.write(&[("/after/dependencies", &one_decided)]).await;
    desk.operations.rerun(&name("job"), NEW_YEAR).await.unwrap();
    let kept = DependencyRecord::parse(desk.text("/after/dependencies").await.unwrap().as_bytes()).unwrap().reruns;
    assert!(kept.len() == 16 && kept.iter().all(|known| known.decided.is_none()), "{kept:?}");
}
