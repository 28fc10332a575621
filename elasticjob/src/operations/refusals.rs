//! The notes of instances about a configuration that their programs cannot use.

use super::{OperationError, Operations, read};
use crate::ident::JobName;
use crate::job_status::ConfigurationRefusal;
use crate::registry::layout::JobPath;

impl Operations {
    /// What live instances note of a job. What cannot be read says nothing.
    pub(super) async fn refusals(&self, job: &JobName) -> Result<Vec<ConfigurationRefusal>, OperationError> {
        let names = self.names(JobPath::Refusals.absolute(job)).await?;
        let paths = names.iter().filter_map(|name| JobPath::Refusals.child(job, name));
        let nodes = read::all(paths.map(async |path| {
            let node = self.get(path.absolute(job)).await?;
            // A node of another session than its name says was written while one ended and the next began.
            Ok::<_, OperationError>(
                node.filter(|node| node.stat.ephemeral_owner.map(JobPath::Refusal).as_ref() == Some(&path)),
            )
        }));
        let noted = nodes.await?.into_iter().flatten();
        let mut noted: Vec<ConfigurationRefusal> =
            noted.filter_map(|node| serde_json::from_slice(&node.data).ok()).collect();
        noted.sort_by(|a, b| a.instance.cmp(&b.instance));
        Ok(noted)
    }
}
