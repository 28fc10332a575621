//! Reads from the registry center, many at a time.

use std::future::Future;

use futures_util::stream::{StreamExt, TryStreamExt, iter};

use super::{OperationError, Operations};
use crate::ident::JobName;
use crate::registry::NodeData;
use crate::registry::layout::JobPath;

/// How many reads are under way at a time. It limits the load that a namespace with thousands of jobs puts on a server.
const AT_A_TIME: usize = 256;

/// The answers to all reads in their order, or the first failure.
pub(super) async fn all<T, E>(
    questions: impl IntoIterator<Item = impl Future<Output = Result<T, E>>>,
) -> Result<Vec<T>, E> {
    // Collected first: a lazy stream of borrowing futures is not known to be `Send`.
    let questions: Vec<_> = questions.into_iter().collect();
    iter(questions).buffered(AT_A_TIME).try_collect().await
}

impl Operations {
    pub(super) async fn get(&self, path: String) -> Result<Option<NodeData>, OperationError> {
        Ok(self.registry.get(&path).await?)
    }

    /// The data as text; empty where they are not text.
    pub(super) async fn text(&self, path: String) -> Result<Option<String>, OperationError> {
        let node = self.get(path).await?;
        Ok(node.map(|node| node.data.text().unwrap_or_default().to_owned()))
    }

    /// Names of the children. `None` where the node does not exist.
    pub(super) async fn children(&self, path: String) -> Result<Option<Vec<String>>, OperationError> {
        Ok(self.registry.children(&path).await?)
    }

    /// Names of the children. Empty where the node does not exist.
    pub(super) async fn names(&self, path: String) -> Result<Vec<String>, OperationError> {
        Ok(self.children(path).await?.unwrap_or_default())
    }

    /// The paths of a job, each after its parent. Empty where there is no such job.
    pub(super) async fn tree(&self, job: &JobName) -> Result<Vec<String>, OperationError> {
        let mut tree = Vec::new();
        let mut level = vec![JobPath::Root.absolute(job)];
        while !level.is_empty() {
            let children = all(level.iter().map(|path| self.children(path.clone()))).await?;
            let mut next = Vec::new();
            // A node without an answer was deleted after its parent was read.
            for (path, names) in level.into_iter().zip(children).filter_map(|(path, names)| Some((path, names?))) {
                next.extend(names.into_iter().map(|name| format!("{path}/{name}")));
                tree.push(path);
            }
            level = next;
        }
        Ok(tree)
    }

    /// The names of all jobs of the namespace, in ascending order. Nodes whose name cannot be the name of a job are
    /// left out.
    ///
    /// # Errors
    /// [`OperationError::Read`].
    pub async fn job_names(&self) -> Result<Vec<JobName>, OperationError> {
        let names = self.names("/".to_owned()).await?;
        let mut jobs: Vec<JobName> = names.into_iter().filter_map(|name| JobName::new(name).ok()).collect();
        jobs.sort_unstable();
        Ok(jobs)
    }

    /// The error for a job that does not exist.
    pub(super) async fn no_such_job(&self, job: &JobName) -> OperationError {
        match self.job_names().await {
            Ok(jobs) => OperationError::NoSuchJob { job: job.clone(), jobs },
            Err(error) => error,
        }
    }
}
