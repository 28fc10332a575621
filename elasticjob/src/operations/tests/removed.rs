use super::*;

#[tokio::test]
async fn a_job_is_removed_when_no_instance_is_online_or_when_that_is_forced() {
    let desk = Desk::new();
    let (handler, _runs) = reporter();
    let mut job = desk.start(once_a_year("job", 2), handler.clone()).await;
    let error = desk.operations.remove_job(&name("job"), Force::No).await.unwrap_err().to_string();
    assert!(error.contains("an instance is online") && error.contains("force"), "{error}");
    assert!(desk.text("/job/config").await.is_some(), "nothing is gone");

    job.shutdown(crate::runtime::ShutdownMode::Graceful).await;
    let removed = desk.operations.remove_job(&name("job"), Force::No).await.unwrap();
    assert_eq!(removed.instances, []);
    assert!(removed.nodes > 5, "{removed:?}");
    assert_eq!(desk.operations.job_names().await.unwrap(), []);

    let forced = desk.start(once_a_year("job", 2), handler).await;
    let removed = desk.operations.remove_job(&name("job"), Force::Yes).await.unwrap();
    assert_eq!(removed.instances, [forced.handle().status().borrow().instance.clone()]);
    let mut status = forced.handle().status();
    soon(status.wait_for(|status| status.activity == crate::runtime::Activity::Stopped)).await.unwrap();
    let error = desk.operations.remove_job(&name("gone"), Force::Yes).await.unwrap_err();
    assert!(matches!(error, OperationError::NoSuchJob { .. }), "{error}");
}

#[tokio::test]
async fn a_job_that_does_not_fit_into_one_transaction_is_removed_as_well() {
    let desk = Desk::new();
    const ITEMS: usize = 6_000;
    let mut transaction = Transaction::new();
    for path in ["/large", "/large/config", "/large/sharding"] {
        transaction.create(path, "", CreateMode::Persistent);
    }
    for item in 0..ITEMS {
        transaction.create(format!("/large/sharding/{item}"), "", CreateMode::Persistent);
    }
    desk.operations.registry.commit(transaction).await.unwrap();
    let long = "x".repeat(200);
    for half in [0..ITEMS / 2, ITEMS / 2..ITEMS] {
        let mut transaction = Transaction::new();
        for item in half {
            transaction.create(format!("/large/sharding/{item}/{long}"), "", CreateMode::Persistent);
        }
        desk.operations.registry.commit(transaction).await.unwrap();
    }
    let before = desk.operations.registry.requests().writes;
    let removed = desk.operations.remove_job(&name("large"), Force::No).await.unwrap();
    assert_eq!(removed.nodes, 2 * ITEMS + 3);
    assert!(desk.operations.registry.requests().writes > before + 1, "it was more than one transaction");
    assert_eq!(desk.operations.job_names().await.unwrap(), []);
}
