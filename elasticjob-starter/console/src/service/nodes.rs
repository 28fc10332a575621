//! The nodes of the registry center, for administrators.

use elasticjob::operations::NodeLevel;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::Problem;
use crate::here::Here;

/// How many children are on a page unless it is said, and at most.
const USUAL: usize = 100;
const MOST: usize = 200;

/// The longest path that is looked for, in characters.
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
    pub(crate) fn path(&self) -> Result<&str, Problem> {
        let path = match self.path.as_str() {
            "" | "/" => return Ok("/"),
            path => path,
        };
        let mut parts = path.split('/');
        let begins = parts.next() == Some("");
        let are_names = parts.all(|part| !matches!(part, "" | "." | "..") && !part.contains(char::is_control));
        match begins && are_names && path.chars().count() <= LONGEST && self.after.chars().count() <= LONGEST {
            true => Ok(path),
            false => Err(Problem::bad_request(format!(
                "`path` is no path of a node: write /settle/config, with at most {LONGEST} characters"
            ))),
        }
    }
}

/// A level of the tree, as the registry center has it now.
pub(crate) async fn level(here: &Here, query: &NodeQuery) -> Result<NodeLevel, Problem> {
    let (path, limit) = (query.path()?, query.limit.unwrap_or(USUAL));
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::bad_request(format!("limit is from 1 to {MOST}")));
    }
    let found = here.operations("").node(path, &query.after, limit).await?;
    found.ok_or_else(|| Problem::no_such_node(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_names_between_slashes() {
        let path =
            |path: &str| NodeQuery { path: path.to_owned(), ..NodeQuery::default() }.path().map(ToOwned::to_owned);
        for right in ["/", "/job", "/job/instances/10.0.0.1@-@7", "/报表/config"] {
            assert_eq!(path(right).as_deref().ok(), Some(right));
        }
        assert_eq!(path("").as_deref().ok(), Some("/"));
        for wrong in ["job", "/job/", "//job", "/job/../x", "/./x", "/a\u{1}", &format!("/{}", "x".repeat(1_000))] {
            assert!(path(wrong).is_err_and(|problem| problem.code() == "bad-request"), "{wrong}");
        }
    }
}
