//! The nodes of the registry center, for administrators.

use elasticjob::operations::{NodeLevel, NodePath};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// How many children are on a page unless it is said, and at most.
const USUAL: usize = 100;
const MOST: usize = 200;

/// The longest name of a child that the page begins after, in characters.
const LONGEST: usize = 1_000;

/// Which node is shown, and which of its children.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NodeQuery {
    /// The path below the namespace; empty for its top.
    pub(crate) path: String,
    /// The name of the child after which the page begins.
    pub(crate) after: String,
    /// How many children, up to 200; 100 unless it is said.
    pub(crate) limit: Option<usize>,
}

impl NodeQuery {
    /// The path, once it is one that a node can have.
    pub(crate) fn path(&self) -> Result<NodePath, Problem> {
        if self.after.chars().count() > LONGEST {
            return Err(Problem::bad_request(texts::field_too_long("after", LONGEST)));
        }
        Ok(super::history::parsed("path", &self.path)?.unwrap_or_default())
    }
}

/// A level of the tree, as the registry center has it now.
pub(crate) async fn level(here: &Here, query: &NodeQuery) -> Result<NodeLevel, Problem> {
    let (path, limit) = (query.path()?, query.limit.unwrap_or(USUAL));
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::bad_request(texts::limit_out_of_range(MOST)));
    }
    let found = here.operations("").node(&path, &query.after, limit).await?;
    found.ok_or_else(|| Problem::no_such_node(path.as_str()))
}
