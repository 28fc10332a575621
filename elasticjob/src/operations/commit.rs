//! Commits the plan of an operation, and plans again where another client was faster.

use std::future::Future;

use serde::Serialize;

use super::audit::{Action, Part};
use super::{OperationError, Operations};
use crate::registry::{CommitError, Op, Refusal, TRANSACTION_LIMIT, Transaction};

/// How often an operation reads and plans.
const ATTEMPTS: usize = 8;

/// The result of an operation: the parts that it changed, and the parts that needed no change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The parts that were changed.
    pub changed: Vec<T>,
    /// The parts that needed no change.
    pub unchanged: Vec<T>,
}

/// Operations of one transaction, and the changes that they make.
pub(super) struct Step<T> {
    pub(super) does: Vec<T>,
    pub(super) ops: Vec<Op>,
    is_alone: bool,
}

impl<T> Step<T> {
    /// Operations that share a transaction with others.
    pub(super) fn new(does: Vec<T>, ops: Vec<Op>) -> Self {
        Self { does, ops, is_alone: false }
    }

    /// Operations of a transaction of their own: it is refused where their job changed, which must not hold up other jobs.
    pub(super) fn alone(does: Vec<T>, ops: Vec<Op>) -> Self {
        Self { is_alone: true, ..Self::new(does, ops) }
    }
}

/// The steps of an operation, planned from the current nodes.
pub(super) struct Plan<T> {
    pub(super) steps: Vec<Step<T>>,
    pub(super) unchanged: Vec<T>,
}

impl Operations {
    /// Carries a plan out, in one transaction where it fits into one. When a change of another client makes the
    /// registry center refuse it, the operation is planned again.
    /// The action is recorded, with the parts that were changed before a failure.
    pub(super) async fn carry_out<T: PartialEq + Part, P>(
        &self,
        action: Action,
        plan: impl Fn() -> P,
    ) -> Result<Outcome<T>, OperationError>
    where
        P: Future<Output = Result<Plan<T>, OperationError>>,
    {
        let mut changed = Vec::new();
        let ended = self.change(plan, &mut changed).await;
        self.record(&action, &changed, ended.as_ref()).await;
        ended.map(|unchanged| Outcome { changed, unchanged })
    }

    /// Adds what it changes to `changed`, and returns the parts that needed no change.
    async fn change<T: PartialEq, P>(
        &self,
        plan: impl Fn() -> P,
        changed: &mut Vec<T>,
    ) -> Result<Vec<T>, OperationError>
    where
        P: Future<Output = Result<Plan<T>, OperationError>>,
    {
        for _ in 0..ATTEMPTS {
            let planned = match plan().await {
                Err(OperationError::NothingMatched { .. }) if !changed.is_empty() => return Ok(Vec::new()),
                planned => planned?,
            };
            match self.write(planned.steps, changed).await {
                Ok(()) => {
                    let mut unchanged = planned.unchanged;
                    unchanged.retain(|one| !changed.contains(one));
                    return Ok(unchanged);
                }
                Err(CommitError::Refused { reason, .. }) if is_of_a_race(reason) => {}
                Err(reason) => return Err(OperationError::Write { done: changed.len(), reason }),
            }
        }
        Err(OperationError::Contended { done: changed.len() })
    }

    /// Commits steps, as many in one transaction as fit, and adds their changes to `done`.
    pub(super) async fn write<T>(&self, steps: Vec<Step<T>>, done: &mut Vec<T>) -> Result<(), CommitError> {
        let mut steps = steps.into_iter().peekable();
        while steps.peek().is_some() {
            let (mut transaction, mut does, mut weight) = (Transaction::new(), Vec::new(), 0);
            while let Some(step) = steps.next_if(|step| {
                transaction.is_empty() || (!step.is_alone && weight + self.weight_of(step) <= TRANSACTION_LIMIT)
            }) {
                weight += self.weight_of(&step);
                does.extend(step.does);
                step.ops.into_iter().for_each(|op| {
                    transaction.push(op);
                });
            }
            self.registry.commit(transaction).await?;
            done.append(&mut does);
        }
        Ok(())
    }

    fn weight_of<T>(&self, step: &Step<T>) -> usize {
        step.ops.iter().map(|op| op.weight() + self.registry.namespace_bytes()).sum()
    }
}

/// Whether a refusal means that another client was faster, so that a second plan may succeed.
pub(super) fn is_of_a_race(refusal: Refusal) -> bool {
    matches!(refusal, Refusal::NoNode | Refusal::NodeExists | Refusal::BadVersion | Refusal::NotEmpty)
}
