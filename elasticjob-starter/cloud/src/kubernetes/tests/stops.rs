//! Stops: their causes are kept by the cluster.

use std::time::Duration;

use super::api_server::{ApiServer, Connection};
use super::*;
use crate::carrier::{ItemState, Outcome, StopCause};

#[tokio::test]
async fn the_next_carrier_knows_the_first_cause_of_a_stop() {
    let server = Arc::new(ApiServer::default());
    let [first, next] = [(), ()].map(|()| Connection::new(&server, None, false).carrier());
    let of = Arc::new(carried(json!({ "shardingTotalCount": 2 })));
    let id = LaunchId { job: of.job_name.clone(), fire: Fire::Scheduled(1) };
    let items = of.items().map(|item| LaunchItem::new(item, None)).collect();
    first.launch(Launch::new(id.clone(), items, Arc::new(app(json!({}))), of)).await.unwrap();
    let limit = StopCause::TimeLimit { milliseconds: 5 };
    let mut events = next.watch();
    first.stop(&id, &[0], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    next.stop(&id, &[0, 1], Stop::new(Duration::ZERO, limit.clone())).await.unwrap();
    let stopped = |cause: &StopCause| ItemState::from(Outcome::Stopped).stopped_for(Some(cause.clone()));
    let ended = async {
        loop {
            let states = next.states(&id).await.unwrap().unwrap();
            if states.values().all(|state| state.outcome().is_some()) {
                return states;
            }
            events.next().await.unwrap();
        }
    };
    let states = tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap();
    assert_eq!((&states[&0], &states[&1]), (&stopped(&StopCause::Operator), &stopped(&limit)));
}
