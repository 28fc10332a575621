//! The output of an item, and of a process of a `DAEMON` job, from the API server.

use elasticjob::ident::{JobName, ShardingItem};
use futures_util::{AsyncRead, AsyncReadExt};
use kube::ResourceExt;
use kube::api::{ListParams, LogParams};

use super::errors::{Trouble, answer};
use super::names::{CONTAINER, INDEX, OF_JOB};
use super::{KubernetesCarrier, indexed_job, stateful_set, states};
use crate::carrier::{LaunchId, output};

impl KubernetesCarrier {
    /// The last bytes that an item wrote; with `itemsPerProcess` those of its pod.
    pub(super) async fn log_of(
        &self,
        id: &LaunchId,
        item: ShardingItem,
        most: usize,
    ) -> Result<Option<String>, Trouble> {
        let jobs = self.jobs_of(id).await?;
        let place = jobs.iter().find_map(|job| {
            let index = indexed_job::items(job).iter().position(|items| items.contains(&item))?;
            Some((job.name_any(), index))
        });
        let Some((job, index)) = place else { return Ok(None) };
        let labels = ListParams::default().labels(&format!("{OF_JOB}={job},{INDEX}={index}"));
        let pods = answer(self.pods.list(&labels)).await?.items;
        let Some(pod) = states::latest(&pods) else { return Ok(None) };
        self.log_of_pod(&pod.name_any(), most).await
    }

    /// The last bytes that a process of a `DAEMON` job wrote since its last start.
    pub(super) async fn log_of_process(
        &self,
        job: &JobName,
        index: u32,
        most: usize,
    ) -> Result<Option<String>, Trouble> {
        self.log_of_pod(&stateful_set::pod_name(job, index, &self.common), most).await
    }

    /// The last bytes that the program of a pod wrote. `None` where there is no such pod, or its program has not begun.
    async fn log_of_pod(&self, pod: &str, most: usize) -> Result<Option<String>, Trouble> {
        // A line has a byte at least.
        let lines = i64::try_from(most).unwrap_or(i64::MAX);
        let of = LogParams { container: Some(CONTAINER.to_owned()), tail_lines: Some(lines), ..LogParams::default() };
        let log = async {
            let mut stream = std::pin::pin!(self.pods.log_stream(pod, &of).await?);
            tail(&mut stream, most).await.map_err(kube::Error::ReadEvents)
        };
        match answer(log).await {
            Ok(log) => Ok(Some(output::text(&log))),
            // There is no pod, or its container has not begun.
            Err(Trouble::Refused(status)) if matches!(status.code, 400 | 404) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }
}

/// The last bytes of a stream.
async fn tail(stream: &mut (impl AsyncRead + Unpin), most: usize) -> std::io::Result<Vec<u8>> {
    let (mut end, mut part) = (Vec::new(), vec![0; 16 * 1_024]);
    loop {
        let read = stream.read(&mut part).await?;
        end.extend_from_slice(&part[..read]);
        // Cut now and then: each byte is moved a few times at most.
        if read == 0 || end.len() >= 2 * most.max(part.len()) {
            end.drain(..end.len().saturating_sub(most));
        }
        if read == 0 {
            return Ok(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::io::Cursor;

    use super::tail;

    #[tokio::test]
    async fn the_end_of_a_log_is_kept() {
        let text: Vec<u8> = (0..100_000_u32).map(|at| at as u8).collect();
        for most in [0, 1, 5_000, 99_999, 100_000, 200_000] {
            let end = tail(&mut Cursor::new(&text), most).await.unwrap();
            assert_eq!(end, text[text.len().saturating_sub(most)..], "{most}");
        }
    }
}
