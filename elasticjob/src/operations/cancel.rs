//! Cancels runs that go on.

use super::audit::Action;
use super::commit::{Plan, Step};
use super::{ItemOfJob, ItemSnapshot, JobSnapshot, NotCancelled, OperationError, Operations, Outcome, Target};
use crate::fire::CancelRequest;
use crate::ident::{JobName, ShardingItem};
use crate::registry::Op;
use crate::registry::layout::JobPath;

impl Operations {
    /// Cancels the run of an item, or all runs of a job that go on. The instance of a run fires the cancellation token of
    /// its context at once, and drops what does not end within the grace of a cut-off. The run has failed then, with
    /// actor and reason as its error, and is not run again for its fire: no failover, also where its instance is lost
    /// before. Code that blocks and does not look at its token goes on until it returns.
    ///
    /// The outcome says which items were asked; an item whose end was asked for before is among the unchanged ones.
    ///
    /// # Errors
    /// [`OperationError::NothingToCancel`] where nothing runs that can be cancelled, [`OperationError::NoSuchItem`].
    pub async fn cancel(
        &self,
        job: &JobName,
        item: Option<ShardingItem>,
        request: &CancelRequest,
    ) -> Result<Outcome<ItemOfJob>, OperationError> {
        let action = Action::on("cancel", &Target::Job(job.clone()));
        self.carry_out(action, || self.plan_cancel(job, item, request)).await
    }

    async fn plan_cancel(
        &self,
        job: &JobName,
        item: Option<ShardingItem>,
        request: &CancelRequest,
    ) -> Result<Plan<ItemOfJob>, OperationError> {
        let snapshot = self.snapshot(job).await?;
        let items: Vec<ShardingItem> = match item {
            Some(item) if !snapshot.items.contains_key(&item) => {
                return Err(OperationError::NoSuchItem { job: job.clone(), item, count: snapshot.items.len() });
            }
            Some(item) => vec![item],
            None => snapshot.items.keys().copied().collect(),
        };
        let (mut steps, mut unchanged) = (Vec::new(), Vec::new());
        let mut why = NotCancelled::Idle;
        for item in items {
            let Some(nodes) = snapshot.items.get(&item) else { continue };
            let one = ItemOfJob { job: job.clone(), item };
            match standing(&snapshot, nodes) {
                Standing::Asked => unchanged.push(one),
                Standing::Runs => match self.step_of(one, request).await? {
                    Some(step) => steps.push(step),
                    None => why = NotCancelled::Idle,
                },
                Standing::Not(reason) => why = reason,
            }
        }
        if steps.is_empty() && unchanged.is_empty() {
            return Err(OperationError::NothingToCancel { job: job.clone(), item, why });
        }
        Ok(Plan { steps, unchanged })
    }

    /// Sets the record of a run, if it still goes on. The version is the guard: the run may end at this moment.
    async fn step_of(
        &self,
        one: ItemOfJob,
        request: &CancelRequest,
    ) -> Result<Option<Step<ItemOfJob>>, OperationError> {
        let path = JobPath::fire(one.item).absolute(&one.job);
        let Some(node) = self.get(path.clone()).await? else { return Ok(None) };
        let Some(record) = crate::fire::FireRecord::parse(&node.data).cancel(request.clone()) else { return Ok(None) };
        let op = Op::Set { path, data: record.to_bytes().into(), version: Some(node.stat.version) };
        Ok(Some(Step::new(vec![one], vec![op])))
    }
}

/// Whether the run of an item can be cancelled.
enum Standing {
    Runs,
    /// That was asked for before.
    Asked,
    Not(NotCancelled),
}

fn standing(snapshot: &JobSnapshot, nodes: &ItemSnapshot) -> Standing {
    let Some(mark) = &nodes.running else {
        let is_monitored = snapshot.usable().is_none_or(|configuration| configuration.monitor_execution());
        return Standing::Not(if is_monitored { NotCancelled::Idle } else { NotCancelled::NotMonitored });
    };
    let marked = mark.instance.as_ref();
    match nodes.record.running().filter(|begun| marked == Some(&begun.instance)) {
        Some(begun) if begun.cancel.is_some() => Standing::Asked,
        Some(_) => Standing::Runs,
        // Only Java instances mark an item and write no record.
        None => Standing::Not(NotCancelled::RunByJava(mark.instance.clone())),
    }
}
