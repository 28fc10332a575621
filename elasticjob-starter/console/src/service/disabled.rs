//! The operator who disabled something, for pages and for the API.

use elasticjob::ident::JobName;
use elasticjob::operations::disabled as recorded;
use serde::Serialize;
use utoipa::ToSchema;

use super::now;
use crate::here::Here;

pub(crate) use recorded::{By, Disablings, What, of_item, of_list, of_parts};

/// The operator who disabled something, as far as that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DisabledBy {
    /// The operator.
    actor: String,
    /// The reason that the operator gave; empty where there was none.
    reason: String,
}

impl DisabledBy {
    /// The operator, where one is known.
    pub(crate) fn of(by: By) -> Option<Self> {
        by.operator().map(|by| Self { actor: by.actor, reason: by.reason })
    }
}

/// The recorded actions on these jobs, each of which something is disabled since this time.
pub(crate) async fn disablings_of(here: &Here, disabled: Vec<(JobName, i64)>) -> Disablings {
    Disablings::of(here.registry.action_reader(), here.registry.kept_actions(), disabled, now()).await
}

#[cfg(test)]
mod tests;
