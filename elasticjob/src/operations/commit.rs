//! Writing what was decided, and deciding anew where somebody else was faster.

use std::future::Future;

use serde::Serialize;

use super::{OperationError, Operations};
use crate::registry::{CommitError, Op, Refusal, TRANSACTION_LIMIT, Transaction};

/// How often an operation looks and decides anew.
const ATTEMPTS: usize = 8;

/// What an operation did, and what of all that was meant had been so before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome<T> {
    /// What was changed.
    pub changed: Vec<T>,
    /// What needed no change.
    pub unchanged: Vec<T>,
}

/// Operations that belong into one transaction, and what they do.
pub(super) struct Step<T> {
    pub(super) does: Vec<T>,
    pub(super) ops: Vec<Op>,
}

/// What is to be done for an operation, as things stand.
pub(super) struct Plan<T> {
    pub(super) steps: Vec<Step<T>>,
    pub(super) unchanged: Vec<T>,
}

impl Operations {
    /// Carries a plan out, in one transaction where it fits into one. What others change meanwhile refuses it; then it is
    /// planned anew.
    pub(super) async fn carry_out<T: PartialEq, P>(&self, plan: impl Fn() -> P) -> Result<Outcome<T>, OperationError>
    where
        P: Future<Output = Result<Plan<T>, OperationError>>,
    {
        let mut changed = Vec::new();
        for _ in 0..ATTEMPTS {
            let planned = match plan().await {
                Err(OperationError::NothingMatched { .. }) if !changed.is_empty() => {
                    return Ok(Outcome { changed, unchanged: Vec::new() });
                }
                planned => planned?,
            };
            match self.write(planned.steps, &mut changed).await {
                Ok(()) => {
                    let mut unchanged = planned.unchanged;
                    unchanged.retain(|one| !changed.contains(one));
                    return Ok(Outcome { changed, unchanged });
                }
                Err(CommitError::Refused { reason, .. }) if is_of_a_race(reason) => {}
                Err(reason) => return Err(OperationError::Write { done: changed.len(), reason }),
            }
        }
        Err(OperationError::Contended { done: changed.len() })
    }

    /// Commits steps, as many in a transaction as fit, and tells what they did.
    pub(super) async fn write<T>(&self, steps: Vec<Step<T>>, done: &mut Vec<T>) -> Result<(), CommitError> {
        let mut steps = steps.into_iter().peekable();
        while steps.peek().is_some() {
            let (mut transaction, mut does, mut weight) = (Transaction::new(), Vec::new(), 0);
            while let Some(step) =
                steps.next_if(|step| transaction.is_empty() || weight + self.weight_of(step) <= TRANSACTION_LIMIT)
            {
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

/// Whether a refusal says that somebody else was faster, so that a second look may help.
pub(super) fn is_of_a_race(refusal: Refusal) -> bool {
    matches!(refusal, Refusal::NoNode | Refusal::NodeExists | Refusal::BadVersion | Refusal::NotEmpty)
}
