//! The notes of instances about a configuration that their programs cannot use.

use super::*;
use crate::config::wire;
use crate::operations::ConfigurationRefusal;
use crate::registry::layout::JobPath;
use crate::runtime::ShutdownMode;

/// The job with a strategy that this program does not have.
fn foreign(description: &str) -> String {
    let builder = once_a_year("job", 1).job_sharding_strategy_type("OF_ANOTHER_PROGRAM").description(description);
    wire::to_yaml(&builder.build().unwrap())
}

/// Waits until the notes are so.
async fn noted(desk: &Desk, are_so: impl Fn(&[ConfigurationRefusal]) -> bool) -> Vec<ConfigurationRefusal> {
    let look = async {
        loop {
            let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
            if are_so(&snapshot.refusals) {
                return snapshot.refusals;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    soon(look).await
}

async fn told(desk: &Desk) -> Option<Finding> {
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    snapshot.findings(0).into_iter().find(|finding| finding.code() == "refused-by-instances")
}

#[tokio::test]
async fn an_instance_notes_what_it_refuses_until_it_can_use_it() {
    let desk = Desk::new();
    let _job = desk.start(once_a_year("job", 1), reporter().0).await;
    let good = desk.text("/job/config").await.unwrap();
    assert_eq!(desk.text("/job/refusals").await, None, "nothing is noted without a cause");
    desk.write(&[("/job/config", &foreign("1"))]).await;
    let [refusal] = &noted(&desk, |all| !all.is_empty()).await[..] else { panic!("one instance") };
    assert!(refusal.joined && refusal.why.contains("'OF_ANOTHER_PROGRAM'"), "{refusal:?}");
    assert_eq!(&refusal.instance, desk.environment.instance_id());
    let found = told(&desk).await.unwrap();
    assert_eq!((found.is_obstacle(), found.remedy()), (true, Some(Remedy::CorrectConfiguration)));
    assert!(found.to_string().contains("goes on with the last one that it could"), "{found}");
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    assert_eq!(snapshot.overview(0).refusing_instances, 1);
    // Of the next version that it refuses it says so again.
    desk.write(&[("/job/config", &foreign("2"))]).await;
    noted(&desk, |all| all.iter().any(|it| it.version > refusal.version)).await;
    desk.write(&[("/job/config", &good)]).await;
    let is_gone = async {
        while !desk.operations.names(JobPath::Refusals.absolute(&name("job"))).await.unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    soon(is_gone).await;
    assert_eq!(told(&desk).await, None);
}

#[tokio::test]
async fn an_instance_that_waits_is_told_and_takes_its_note_back_when_it_leaves() {
    let desk = Desk::new();
    desk.start(once_a_year("job", 1), reporter().0).await.shutdown(ShutdownMode::Now).await;
    desk.write(&[("/job/config", &foreign("1"))]).await;
    let (registry, configuration) = (Arc::new(desk.memory.connect()), once_a_year("job", 1).build().unwrap());
    let mut waiting = ScheduleJobBootstrap::new(&desk.environment, registry, configuration, reporter().0).unwrap();
    waiting.schedule().await.unwrap_err();
    let [refusal] = &noted(&desk, |all| !all.is_empty()).await[..] else { panic!("one instance") };
    assert!(!refusal.joined, "{refusal:?}");
    let found = told(&desk).await.unwrap();
    assert!(found.to_string().contains("does not take part until it can"), "{found}");
    // The session goes on.
    waiting.shutdown(ShutdownMode::Now).await;
    noted(&desk, <[ConfigurationRefusal]>::is_empty).await;
}
