//! Notes in the registry center for which fire each item was launched last.
//!
//! A scheduler that takes an item over asks the carrier, which may not know the launch: it was never made, or it is gone, as
//! on another host. Only the note tells. Without it, an item that may not run twice is started; with it, it is lost.
//!
//! The fencing token beside each launch tells which of two schedulers that both believe that an item is theirs began it later:
//! the other one stood still meanwhile, and launches it no more.
//!
//! A third word says that the carrier was not given the item: as the engine was not reached, or the run let go of it before. Then the
//! scheduler that takes it over knows that it did not run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction, Zxid};

use super::nodes::{CARRIED, LAUNCHED, Node};
use super::process_notes;
use crate::carrier::{LaunchId, LaunchItem};

/// How often a write is tried when other schedulers write the note of other items.
const ATTEMPTS: usize = 8;

/// The notes.
#[derive(Debug, Clone)]
pub(super) struct Marks(Arc<dyn RegistryCenter>);

/// The note of a job: for which fire each item was launched last.
#[derive(Debug, Clone, Default)]
pub(super) struct Note {
    launched: BTreeMap<ShardingItem, Launched>,
    /// Of its node, where there is one.
    version: Option<i32>,
}

/// The last word of the note of an item that the carrier was not given. A scheduler that does not know it reads the whole text as
/// another launch, and launches the item.
const NOT_GIVEN: &str = " not-given";

/// What is noted of an item: its launch, and the fencing token of the run that it was for, where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Launched {
    launch: String,
    token: Option<i64>,
    /// The run of this token is known not to have given it to the carrier, and neither is any before it.
    is_not_given: bool,
}

impl Launched {
    fn of(id: &LaunchId, wanted: &LaunchItem) -> Self {
        Self { launch: id.to_string(), token: wanted.fencing_token, is_not_given: false }
    }

    fn parse(text: &str) -> Self {
        // The name of a job may have blanks, and a run without a token leaves it out.
        let short = text.strip_suffix(NOT_GIVEN);
        let words = short.unwrap_or(text).rsplit_once(' ');
        let with_token = words.and_then(|(launch, token)| Some((launch, token.parse().ok()?)));
        match with_token {
            Some((launch, token)) => {
                Self { launch: launch.to_owned(), token: Some(token), is_not_given: short.is_some() }
            }
            None => Self { launch: text.to_owned(), token: None, is_not_given: false },
        }
    }
}

impl fmt::Display for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.launch)?;
        self.token.map_or(Ok(()), |token| write!(f, " {token}"))?;
        if self.is_not_given { f.write_str(NOT_GIVEN) } else { Ok(()) }
    }
}

/// How a write of a note went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// It is in the registry center.
    Done,
    /// Nothing was written: another scheduler noted the same items meanwhile, or one of them may not be started any more.
    Changed,
}

impl Note {
    /// Whether an item was launched last for this fire.
    pub(super) fn is_of(&self, id: &LaunchId, item: ShardingItem) -> bool {
        self.launched.get(&item).is_some_and(|launched| launched.launch == id.to_string())
    }

    /// Whether a launch of an item is noted.
    pub(super) fn has(&self, item: ShardingItem) -> bool {
        self.launched.contains_key(&item)
    }

    /// Whether the last launch of any item was for this fire.
    pub(super) fn has_any_of(&self, id: &LaunchId) -> bool {
        let fire = id.to_string();
        self.launched.values().any(|launched| launched.launch == fire)
    }

    /// Whether the carrier may have been given an item for this fire by another run: by one before it, of which this one is the
    /// failover.
    pub(super) fn is_given_by_another_run(&self, id: &LaunchId, wanted: &LaunchItem) -> bool {
        let is_own = |launched: &Launched| launched.token.is_some() && launched.token == wanted.fencing_token;
        let is_given_by_another = |launched: &Launched| !launched.is_not_given && !is_own(launched);
        self.is_of(id, wanted.item) && self.launched.get(&wanted.item).is_some_and(is_given_by_another)
    }

    /// The fencing token of the run that an item was launched for last, where it has one.
    pub(super) fn token_of(&self, item: ShardingItem) -> Option<i64> {
        self.launched.get(&item)?.token
    }

    /// Whether a later run of an item was launched, by its fencing token. A run without one, as it is not monitored, knows it only
    /// after its own note: then any other launch is a later one.
    pub(super) fn has_later_run(&self, id: &LaunchId, wanted: &LaunchItem, is_noted: bool) -> bool {
        let Some(launched) = self.launched.get(&wanted.item) else { return false };
        match (launched.token, wanted.fencing_token) {
            (Some(noted), Some(own)) => noted > own,
            (None, Some(_)) => false,
            (_, None) => is_noted && launched.launch != id.to_string(),
        }
    }

    /// The items that were launched last for another fire, each with its launch.
    pub(super) fn formers(
        &self,
        id: &LaunchId,
        items: impl Iterator<Item = ShardingItem>,
    ) -> impl Iterator<Item = (LaunchId, ShardingItem)> {
        let former = move |item| self.launched.get(&item)?.launch.parse().ok().filter(|former| former != id);
        items.filter_map(move |item| Some((former(item)?, item)))
    }

    /// The items of runs that began before this transaction, with their launches: a fencing token is the transaction of a begin.
    pub(super) fn begun_before(&self, transaction: Zxid) -> BTreeMap<LaunchId, Vec<ShardingItem>> {
        let mut launches: BTreeMap<LaunchId, Vec<ShardingItem>> = BTreeMap::new();
        for (item, launched) in &self.launched {
            if let (true, Ok(id)) = (launched.token.is_none_or(|token| token < transaction), launched.launch.parse()) {
                launches.entry(id).or_default().push(*item);
            }
        }
        launches
    }

    /// The items from this number on.
    pub(super) fn from(&self, first: ShardingItem) -> impl Iterator<Item = ShardingItem> {
        self.launched.range(first..).map(|(item, _)| *item)
    }

    /// Leaves an item out of what is written next.
    pub(super) fn leave_out(&mut self, item: ShardingItem) {
        self.launched.remove(&item);
    }

    /// Whether both say the same of these items.
    fn agrees(&self, other: &Self, items: &[LaunchItem]) -> bool {
        items.iter().all(|wanted| self.launched.get(&wanted.item) == other.launched.get(&wanted.item))
    }

    fn has_all(&self, id: &LaunchId, items: &[LaunchItem]) -> bool {
        items.iter().all(|wanted| self.launched.get(&wanted.item) == Some(&Launched::of(id, wanted)))
    }

    fn text(&self) -> String {
        let texts: BTreeMap<_, _> = self.launched.iter().map(|(item, launched)| (item, launched.to_string())).collect();
        serde_json::to_string(&texts).expect("texts have a JSON form")
    }
}

impl Marks {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>) -> Self {
        Self(registry)
    }

    /// The registry center that has them.
    pub(super) fn registry(&self) -> &dyn RegistryCenter {
        &*self.0
    }

    /// Notes that items are about to be launched, over what was read of the job. What other schedulers note of other items
    /// meanwhile stays. Nothing is noted of an item that may not be started any more: its note may say by now that it was not given.
    pub(super) async fn note(&self, id: &LaunchId, items: &[LaunchItem], read: Note) -> Result<Noted, String> {
        let path = path(&id.job);
        let (mut why, mut over) = (String::new(), read);
        for _ in 0..ATTEMPTS {
            if items.iter().any(|wanted| wanted.permit.is_withdrawn()) {
                return Ok(Noted::Changed);
            }
            let mut note = over.clone();
            note.launched.extend(items.iter().map(|wanted| (wanted.item, Launched::of(id, wanted))));
            let text = note.text();
            let mut transaction = Transaction::new();
            // A job that is removed has no note, and launches nothing any more.
            let registration = transaction.check(Node::Job(id.job.clone()).path(), None);
            match over.version {
                Some(version) => transaction.set(path.clone(), text.as_str(), Some(version)),
                None => transaction.create(path.clone(), text.as_str(), CreateMode::Persistent),
            };
            match self.0.commit(transaction).await {
                Ok(_) => return Ok(Noted::Done),
                Err(CommitError::Refused { index, reason: Refusal::NoNode, .. }) if index == registration => {
                    return Err(format!("job '{}' is not registered any more", id.job));
                }
                Err(CommitError::Refused {
                    reason: Refusal::BadVersion | Refusal::NodeExists | Refusal::NoNode,
                    ..
                }) => {}
                // It may have been applied: reading shows it.
                Err(error) => why = error.to_string(),
            }
            let now = self.read(&id.job).await?;
            if now.has_all(id, items) {
                return Ok(Noted::Done);
            }
            if !now.agrees(&over, items) {
                return Ok(Noted::Changed);
            }
            over = now;
        }
        Err(format!("the launch cannot be noted in the registry center: {why}"))
    }

    /// Notes that the carrier was not given these items, where their notes are still those of the same runs. Runs without a fencing
    /// token are not taken over.
    pub(super) async fn note_not_given(&self, id: &LaunchId, items: &[LaunchItem]) -> Result<(), String> {
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            let mut note = self.read(&id.job).await?;
            let of_items = items.iter().map(|wanted| (wanted.item, Launched::of(id, wanted)));
            let own: Vec<_> = of_items
                .filter(|(item, own)| own.token.is_some() && note.launched.get(item) == Some(own))
                .map(|(item, own)| (item, Launched { is_not_given: true, ..own }))
                .collect();
            let Some(version) = note.version.filter(|_| !own.is_empty()) else { return Ok(()) };
            note.launched.extend(own);
            let mut transaction = Transaction::new();
            transaction.set(path(&id.job), note.text().as_str(), Some(version));
            match self.0.commit(transaction).await {
                // With its job the note goes.
                Ok(_) | Err(CommitError::Refused { reason: Refusal::NoNode, .. }) => return Ok(()),
                Err(CommitError::Refused { reason: Refusal::BadVersion, .. }) => {}
                // It may have been applied: reading shows it.
                Err(error) => why = error.to_string(),
            }
        }
        Err(why)
    }

    /// Whether no other place has run the job.
    pub(super) async fn is_only_at(&self, job: &JobName, place: &str) -> Result<bool, RegistryError> {
        let carried = self.0.children(CARRIED).await?.unwrap_or_default();
        let own = process_notes::name(place, job);
        Ok(carried.iter().all(|name| *name == own || process_notes::job_of(name) != Some(job.as_str())))
    }

    /// Reads the note of a job. A job that was never launched has an empty one.
    pub(super) async fn read(&self, job: &JobName) -> Result<Note, String> {
        let node = self.0.get(&path(job)).await.map_err(|error| error.to_string())?;
        Ok(node.map_or_else(Note::default, |node| {
            let texts: BTreeMap<ShardingItem, String> =
                serde_json::from_str(node.data.text().unwrap_or_default()).unwrap_or_default();
            let launched = texts.into_iter().map(|(item, text)| (item, Launched::parse(&text))).collect();
            Note { launched, version: Some(node.stat.version) }
        }))
    }
}

fn path(job: &JobName) -> String {
    format!("{LAUNCHED}/{job}")
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Fire;
    use elasticjob::registry::memory::MemoryRegistry;

    use super::super::nodes::DIRECTORIES;
    use super::*;

    fn launch(at: i64) -> LaunchId {
        LaunchId { job: JobName::new("work").unwrap(), fire: Fire::Scheduled(at) }
    }

    fn run(token: i64) -> [LaunchItem; 1] {
        [LaunchItem::new(0, Some(token))]
    }

    async fn marks() -> Marks {
        let center = MemoryRegistry::new().connect();
        let mut transaction = Transaction::new();
        let registration = Node::Job(launch(0).job).path();
        for path in DIRECTORIES.into_iter().chain([registration.as_str()]) {
            transaction.create(path, "", CreateMode::Persistent);
        }
        center.commit(transaction).await.unwrap();
        Marks::new(Arc::new(center))
    }

    #[tokio::test]
    async fn of_two_schedulers_that_have_an_item_the_one_that_began_it_later_launches_it() {
        let marks = marks().await;
        let job = launch(1).job;
        let (stood_still, other) = (marks.read(&job).await.unwrap(), marks.read(&job).await.unwrap());
        // The other one took the item over for the same fire, and noted it first.
        assert_eq!(marks.note(&launch(1), &run(8), other).await, Ok(Noted::Done));
        assert_eq!(marks.note(&launch(1), &run(7), stood_still).await, Ok(Noted::Changed));
        let noted = marks.read(&job).await.unwrap();
        let has_later = |at: i64, token: i64| noted.has_later_run(&launch(at), &run(token)[0], false);
        assert!(has_later(1, 7) && !has_later(1, 8) && !has_later(2, 9));
        let is_given = |token| noted.is_given_by_another_run(&launch(1), &run(token)[0]);
        assert!(is_given(9) && !is_given(8));
    }

    #[tokio::test]
    async fn a_note_that_its_own_scheduler_wrote_is_no_change() {
        let marks = marks().await;
        let before = marks.read(&launch(1).job).await.unwrap();
        assert_eq!(marks.note(&launch(1), &run(7), before.clone()).await, Ok(Noted::Done));
        // The answer got lost, and it is written again over what was read first.
        assert_eq!(marks.note(&launch(1), &run(7), before.clone()).await, Ok(Noted::Done));
        // Another item of the job is noted meanwhile: both stay.
        let other = [LaunchItem::new(1, Some(3))];
        assert_eq!(marks.note(&launch(1), &other, before).await, Ok(Noted::Done));
        assert!([0, 1].iter().all(|item| {
            let read = futures_util::FutureExt::now_or_never(marks.read(&launch(1).job));
            read.unwrap().unwrap().is_of(&launch(1), *item)
        }));
    }

    #[test]
    fn a_note_is_read_with_and_without_a_token_whatever_the_job_is_called() {
        for job in ["work", "nightly settlement", "5 12"] {
            let launch = LaunchId { job: JobName::new(job).unwrap(), fire: Fire::Scheduled(5) };
            let without = Launched::of(&launch, &LaunchItem::new(0, None));
            let of_run = Launched::of(&launch, &run(12)[0]);
            for launched in [Launched { is_not_given: true, ..of_run.clone() }, of_run, without] {
                assert_eq!(Launched::parse(&launched.to_string()), launched);
            }
        }
    }

    #[tokio::test]
    async fn what_was_not_given_is_noted_over_the_own_run_alone_and_keeps_out_an_earlier_one() {
        let marks = marks().await;
        let job = launch(1).job;
        let read = async || marks.read(&job).await.unwrap();
        let is_given = async || read().await.is_given_by_another_run(&launch(1), &run(9)[0]);
        assert_eq!(marks.note(&launch(1), &run(7), read().await).await, Ok(Noted::Done));
        for (id, others) in [(launch(1), run(6)), (launch(2), run(7)), (launch(1), [LaunchItem::new(0, None)])] {
            assert_eq!(marks.note_not_given(&id, &others).await, Ok(()));
            assert!(is_given().await, "{id}, {others:?}");
        }
        assert_eq!(marks.note_not_given(&launch(1), &run(7)).await, Ok(()));
        assert!(!is_given().await);
        assert!(read().await.has_later_run(&launch(1), &run(6)[0], false), "that one is not launched any more");
        // Before the next request it counts as given again.
        assert_eq!(marks.note(&launch(1), &run(7), read().await).await, Ok(Noted::Done));
        assert!(is_given().await);
        // A run that let go of it meanwhile does not note it any more.
        let let_go = run(7);
        let over = read().await;
        let_go[0].permit.withdraw();
        assert_eq!(marks.note_not_given(&launch(1), &let_go).await, Ok(()));
        assert_eq!(marks.note(&launch(1), &let_go, over).await, Ok(Noted::Changed));
        assert!(!is_given().await);
    }

    #[tokio::test]
    async fn what_has_no_token_overtakes_nothing_before_it_is_noted() {
        let marks = marks().await;
        let job = launch(1).job;
        let unmonitored = [LaunchItem::new(0, None)];
        let read = async || marks.read(&job).await.unwrap();
        assert_eq!(marks.note(&launch(1), &unmonitored, read().await).await, Ok(Noted::Done));
        // A run with a token after one without, and the other way round.
        assert!(!read().await.has_later_run(&launch(2), &run(3)[0], false));
        assert!(!read().await.has_later_run(&launch(2), &unmonitored[0], false));
        assert!(read().await.has_later_run(&launch(2), &unmonitored[0], true));
        assert_eq!(marks.note(&launch(2), &run(3), read().await).await, Ok(Noted::Done));
        assert!(!read().await.has_later_run(&launch(3), &unmonitored[0], false));
    }
}
