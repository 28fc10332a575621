//! Once a minute the release looks whether it is time to look for items of instances that are gone.

use std::rc::Rc;

use super::jvm::Jvm;
use crate::testing::sim::Millis;

const MINUTE: Millis = 60_000;

pub(super) async fn reconcile(jvm: Rc<Jvm>) {
    jvm.wait(None, || jvm.started.get()).await;
    let mut last = jvm.now();
    loop {
        jvm.sleep(MINUTE).await;
        let Some(configuration) = jvm.configuration().await else { return };
        let interval = Millis::try_from(configuration.reconcile_minutes).unwrap_or(0) * MINUTE;
        if interval == 0 || jvm.now() - last < interval {
            continue;
        }
        last = jvm.now();
        let Some(offline) = jvm.has_items_of_offline_instances().await else { return };
        let kept = configuration.static_sharding && jvm.is_sharded().await;
        if offline && !kept && !jvm.is_resharding_asked_for().await {
            jvm.ask_for_resharding().await;
        }
    }
}
