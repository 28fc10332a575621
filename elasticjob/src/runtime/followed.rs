//! Follows the jobs that a job depends on, for its leader: what the registry says of them becomes letters to the driver.
//!
//! Each of them has a watch and a task. After the events that came together, what changed is read again; nothing is polled.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::handle::Letter;
use super::mailbox::Mailbox;
use crate::config::wire::QUICKLY_READ;
use crate::config::{JobConfiguration, wire};
use crate::engine::{DependencyRecord, ParentItem, ParentView, ShardingData};
use crate::fire::FireRecord;
use crate::ident::{JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Mirror, Unread, read_all};
use crate::registry::{Data, RegistryCenter, WatchStream};

/// The pause after a read that got no answer.
const AGAIN: Duration = Duration::from_millis(200);

/// The jobs that are followed. Dropping it ends that.
#[derive(Debug, Default)]
pub(super) struct Followed(Vec<AbortHandle>);

impl Followed {
    /// Follows these jobs.
    pub(super) fn start(
        system: &Handle,
        registry: &Arc<dyn RegistryCenter>,
        jobs: Vec<JobName>,
        mailbox: &Arc<Mailbox<Letter>>,
    ) -> Self {
        let follow = |job| {
            let follower = Follower {
                watch: registry.watch(&JobPath::Root.absolute(&job)),
                registry: registry.clone(),
                mirror: Mirror::new(job.clone()),
                job,
                configuration: None,
            };
            system.spawn(follower.follow(mailbox.clone())).abort_handle()
        };
        Self(jobs.into_iter().map(follow).collect())
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Follows one job.
struct Follower {
    job: JobName,
    registry: Arc<dyn RegistryCenter>,
    watch: Box<dyn WatchStream>,
    mirror: Mirror,
    /// What was read last of the configuration.
    configuration: Option<(Data, Option<Arc<JobConfiguration>>)>,
}

/// What reading came to.
enum Reading {
    /// All that is needed is known.
    Complete(Box<ParentView>),
    /// The watch is not in place yet.
    Unwatched,
    /// The registry center gave no answer.
    Unanswered,
}

impl Follower {
    async fn follow(mut self, mailbox: Arc<Mailbox<Letter>>) {
        let mut told: Option<Box<ParentView>> = None;
        loop {
            match self.read().await {
                Reading::Complete(view) if told.as_ref() != Some(&view) => {
                    told = Some(view.clone());
                    if mailbox.post(Letter::Parent(self.job.clone(), view)).is_err() {
                        return;
                    }
                }
                Reading::Complete(_) | Reading::Unwatched => {}
                Reading::Unanswered => {
                    tokio::time::sleep(AGAIN).await;
                    self.drain();
                    continue;
                }
            }
            // The registry center is closed: nothing follows.
            let Some(event) = poll_fn(|cx| self.watch.poll_next(cx)).await else { return };
            self.mirror.on_event(&event);
            self.drain();
        }
    }

    /// Lists and reads what is missing.
    async fn read(&mut self) -> Reading {
        loop {
            let lists = self.mirror.take_lists();
            if !lists.is_empty() {
                if !self.list(lists).await {
                    return Reading::Unanswered;
                }
                continue;
            }
            if !self.mirror.is_synced() {
                return Reading::Unwatched;
            }
            if let Ok(view) = self.view() {
                return Reading::Complete(Box::new(view));
            }
            if !self.read_wanted().await {
                return Reading::Unanswered;
            }
        }
    }

    /// Whether all answers came.
    async fn list(&mut self, paths: Vec<JobPath>) -> bool {
        let generation = self.mirror.generation();
        let answers = join_all(paths.iter().map(|path| self.registry.children(&path.absolute(&self.job)))).await;
        self.drain();
        let is_answered = answers.iter().all(Result::is_ok);
        for (path, children) in paths.into_iter().zip(answers) {
            match children {
                Ok(children) => self.mirror.on_listed(generation, &path, children),
                Err(_) => self.mirror.on_unanswered(generation, &path),
            }
        }
        is_answered
    }

    /// Whether all answers came.
    async fn read_wanted(&mut self) -> bool {
        let generation = self.mirror.generation();
        let wanted = self.mirror.take_wanted();
        let paths = self.mirror.start_reads(wanted);
        let answers = join_all(paths.iter().map(|path| self.registry.get(&path.absolute(&self.job)))).await;
        self.drain();
        let is_answered = answers.iter().all(Result::is_ok);
        for (path, node) in paths.into_iter().zip(answers) {
            match node {
                Ok(node) => self.mirror.on_read(generation, &path, node),
                Err(_) => self.mirror.on_unanswered(generation, &path),
            }
        }
        is_answered
    }

    /// Takes the events that have arrived: answers are never older than they are.
    fn drain(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(event)) = self.watch.poll_next(&mut cx) {
            self.mirror.on_event(&event);
        }
    }

    fn view(&mut self) -> Result<ParentView, Unread> {
        let configuration = self.configuration();
        let decided = self.mirror.need(&JobPath::Dependencies);
        let sharding = self.mirror.need(&JobPath::Sharding);
        let items = read_all(self.mirror.items().map(|item| Ok((item, self.item(item)?))));
        let decided = decided?.map(|known| (DependencyRecord::parse(&known.data), known.mtime));
        let (decided, decided_at) = decided.unwrap_or_default();
        let triggered = self.mirror.triggers().next().is_some();
        let (configuration, sharding) = (configuration?, sharding?);
        let noted = sharding.zip(configuration.as_deref());
        let scheduled_since =
            noted.and_then(|(known, configuration)| known.parsed(ShardingData::parse).since(configuration));
        Ok(ParentView { configuration, scheduled_since, items: items?, decided, decided_at, triggered })
    }

    fn configuration(&mut self) -> Result<Option<Arc<JobConfiguration>>, Unread> {
        let Some(known) = self.mirror.need(&JobPath::Config)? else { return Ok(None) };
        match &self.configuration {
            Some((data, configuration)) if *data == known.data => Ok(configuration.clone()),
            _ => {
                let read = || wire::from_yaml(&self.job, &known.data).ok().map(Arc::new);
                let configuration = match known.data.len() > QUICKLY_READ {
                    // It blocks this thread; the session and the other jobs go on, on another thread.
                    true => tokio::task::block_in_place(read),
                    false => read(),
                };
                self.configuration = Some((known.data.clone(), configuration.clone()));
                Ok(configuration)
            }
        }
    }

    fn item(&self, item: ShardingItem) -> Result<ParentItem, Unread> {
        let known = self.mirror.need(&JobPath::fire(item))?;
        let (record, written) = known
            .map_or((FireRecord::empty(), 0), |known| (known.parsed(FireRecord::parse).as_ref().clone(), known.mtime));
        let disabled = self.mirror.exists(&JobPath::Item(item, ItemNode::Disabled));
        Ok(ParentItem { record, written, disabled, marked: self.mirror.exists(&JobPath::running(item)) })
    }
}
