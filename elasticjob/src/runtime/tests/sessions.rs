use super::super::Activity;
use super::*;
use crate::job_status::JobStatus;
use crate::registry::{CreateMode, SessionState, Transaction};

#[tokio::test]
async fn an_id_that_another_process_took_meanwhile_is_not_taken_back() {
    let environment = environment();
    let registry = MemoryRegistry::new();
    let (mine, other) = (connect(&registry), connect(&registry));
    let (handler, _runs) = reporter();
    let job = scheduled(&environment, &mine, each_second("taken", 1), handler).await;
    let mut status = job.handle().status();
    let mut instance = environment.instance_id().clone();
    // Repeated, as the job may by chance hear of the gap before it hears of the session.
    for round in 0..100 {
        let SessionState::Connected { id: session, .. } = *mine.session().borrow() else { panic!("it is connected") };
        registry.suspend(session);
        registry.expire(session);
        let node = format!("/taken/instances/{instance}");
        let mut transaction = Transaction::new();
        transaction.create(&node, "theirs", CreateMode::Ephemeral);
        other.commit(transaction).await.unwrap();

        registry.resume(session);
        let is_back = |status: &JobStatus| {
            let is_new = status.session.is_some_and(|new| new != session);
            is_new && !matches!(status.activity, Activity::AwaitingRegistry | Activity::Rejoining)
        };
        let back = soon(status.wait_for(is_back)).await.unwrap().instance.clone();
        assert_ne!(back, instance, "round {round}");
        assert_eq!(other.get(&node).await.unwrap().unwrap().data.text(), Some("theirs"), "round {round}");
        instance = back;
    }
}
