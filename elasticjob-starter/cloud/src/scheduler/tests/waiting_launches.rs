//! An item that is launched and does not start.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_the_engine_does_not_take_is_told_too() {
    let cluster = Cluster::new();
    let away = Arc::new(Away::of(&cluster));
    let one = cluster.scheduler_with(away.clone()).await;
    one.register(cluster.app("work", "true"), job("work", "work", json!({}))).await;
    away.is_unreachable.store(true, Ordering::SeqCst);
    one.trigger("work").await;
    until("it is noted", || async {
        let noted = one.operations().snapshot(&name("work")).await.unwrap();
        let texts = noted.findings_of(0, 0).into_iter().map(|finding| finding.to_string()).collect::<Vec<_>>();
        texts
            .iter()
            .any(|text| text.contains("is not known to run: the launch did not reach the engine: the engine is away"))
    })
    .await;
    away.is_unreachable.store(false, Ordering::SeqCst);
    one.until_last("work", FireState::Succeeded).await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_without_room_is_told_to_everybody_with_what_it_waits_for_until_it_starts() {
    let cluster = Cluster::new();
    let mut options = ProcessOptions::new(cluster.file("a"), "tests");
    options.cpus = Some(1.0);
    let one = cluster.scheduler_with(Arc::new(ProcessCarrier::new(options).unwrap())).await;
    let takes = json!({ "cpuCount": 0.8 });
    one.register(cluster.app("first", UNTIL_TOLD), job("first", "first", takes.clone())).await;
    one.register(cluster.app("second", UNTIL_TOLD), job("second", "second", takes)).await;
    one.trigger("first").await;
    until("the first one runs", || async { cluster.lines("runs").len() == 1 }).await;
    one.trigger("second").await;
    let second = name("second");
    let told = async |code: &str| {
        let noted = one.operations().snapshot(&second).await.unwrap();
        noted.findings_of(0, 0).into_iter().find(|finding| finding.code() == code)
    };
    until("it is noted", || async { told("carried-waits").await.is_some() }).await;
    let wait = told("carried-waits").await.unwrap();
    let text = wait.to_string();
    assert!(text.contains("to run on PROCESS and is not known to run: it needs 0.8 CPU"), "{text}");
    assert!(wait.since.is_some() && told("running").await.is_none(), "{wait:?}");
    // Nothing is noted of what runs.
    let first = one.operations().snapshot(&name("first")).await.unwrap();
    assert_eq!(first.waits, []);
    assert!(one.center.children("/first/waits").await.unwrap().is_none());
    fs::write(cluster.file("end"), "").unwrap();
    one.until_last("second", FireState::Succeeded).await;
    until("it is noted no more", || async {
        one.operations().snapshot(&second).await.is_ok_and(|job| job.waits.is_empty())
    })
    .await;
    one.scheduler.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_record_cannot_be_read_is_not_said_to_have_ended() {
    let cluster = Cluster::new();
    let one = cluster.scheduler("a").await;
    one.register(cluster.app("long", UNTIL_TOLD), job("long", "long", json!({}))).await;
    let registered = one.scheduler.registrations().borrow().jobs[&name("long")].clone();
    one.trigger("long").await;
    until("it runs", || async { one.scheduler.tasks(&registered).await.unwrap().items.len() == 1 }).await;
    let SessionState::Connected { id, .. } = *one.center.session().borrow() else { panic!("it has no session") };
    cluster.registry.suspend(id);
    assert!(one.scheduler.tasks(&registered).await.is_err_and(|error| error.is_unreachable()));
    cluster.registry.resume(id);
    until("it is read again", || async { one.scheduler.tasks(&registered).await.is_ok() }).await;
    fs::write(cluster.file("end"), "").unwrap();
    one.scheduler.shutdown().await;
}
