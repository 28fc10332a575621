//! Late fires: one rule for all of them.
//!
//! A scheduled fire of a monitored job that no instance has begun for an item stays due for that item until the next fire,
//! or for as long as the configuration allows. It makes no difference whether the owner died before the fire, the
//! registry center was away at its time, or no process was there. The records keep an item from being begun twice. The
//! engine reports what it gives up, with the reason.

use std::time::Duration;

use super::engine::JobEngine;
use super::notice::Notice;
use super::own_fires::OwnFires;
use super::planted::Bug;
use super::state::open_fire::{LATE_ACQUISITION, OpenFire};
use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::fire::{ExecutionSource, Fire, LateCause, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::layout::{JobPath, is_of_java};
use crate::registry::mirror::{Unread, read_found, read_known};

/// A begin that is later than this is reported as late: assignments and slow answers take a moment.
pub(super) const SAID_FROM: Duration = Duration::from_secs(2);

/// The evidence of the registry about an item that, by the records, was not begun for a fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// No instance has begun it.
    NotBegun,
    /// There was no such item when the fire was due.
    MadeSince,
    /// A Java instance takes part, or did: it may have run the item, and writes no record of that.
    Java,
}

impl JobEngine {
    /// How late a fire may begin; `None` where it may until the next one is due.
    ///
    /// Without records no instance can tell what another one has begun.
    pub(super) fn late_limit(&self) -> Option<Duration> {
        let configuration = self.configuration.in_force.as_deref().filter(|_| self.configuration.is_monitored());
        let limit = configuration.map_or(Some(LATE_ACQUISITION), late_limit);
        if self.planted.has(Bug::ShortWindow) { limit.or(Some(LATE_ACQUISITION)) } else { limit }
    }

    pub(super) fn too_late(&self, now: Now, due: i64) -> SkipReason {
        let limit = self.late_limit().unwrap_or_default();
        // The clock may have been set back since the fire was due.
        let late = lateness(now, due).max(limit);
        SkipReason::TooLate { seconds: late.as_secs(), limit: limit.as_secs() }
    }

    /// Whether an item is given up for the open fire, and the reason where it has to be reported.
    pub(super) fn gives_up(&self, now: Now, open: &OpenFire, item: ShardingItem) -> Result<GivesUp, Unread> {
        let at = open.key.fire.at();
        if let Some(since) = self.is_from_before(item, at)? {
            let by_own_clock = self.membership.registering_since.filter(|since| *since <= at);
            return Ok(match (open.key.fire, by_own_clock) {
                (Fire::Scheduled(_), Some(_)) => {
                    GivesUp::Because(SkipReason::RegisteredSince { milliseconds: since.abs_diff(at) })
                }
                _ => GivesUp::Silently,
            });
        }
        if matches!(open.key.fire, Fire::Manual { .. }) {
            return Ok(GivesUp::No);
        }
        if open.key.source != ExecutionSource::NormalTrigger {
            return Ok(GivesUp::No);
        }
        if open.declined.contains(&item) {
            return Ok(GivesUp::Because(SkipReason::ServerDisabled));
        }
        let due = self.due_time_of(at, item);
        if open.looks_back && self.planted.has(Bug::DroppedLookBack) {
            return Ok(GivesUp::Silently);
        }
        if open.looks_back || lateness(now, due) > LATE_ACQUISITION {
            match self.evidence(item, at)? {
                Evidence::NotBegun => {}
                Evidence::MadeSince => return Ok(GivesUp::Silently),
                Evidence::Java => return Ok(GivesUp::Because(SkipReason::MaybeRunByJava)),
            }
        }
        // Where items are released one after the other, the time of the earlier ones is over first.
        let is_over_for_item =
            || self.follows_items() && self.late_limit().is_some_and(|limit| lateness(now, due) > limit);
        Ok(if open.is_over || is_over_for_item() { GivesUp::Because(self.too_late(now, due)) } else { GivesUp::No })
    }

    /// Whether a fire is from before the job was registered, so that no record says what began: since when it is registered.
    pub(super) fn is_from_before(&self, item: ShardingItem, at: i64) -> Result<Option<i64>, Unread> {
        let since = self.registered_since(at)?.filter(|_| !self.planted.has(Bug::BegunBefore));
        let Some(since) = since else { return Ok(None) };
        // Items that came while execution was not monitored have no record at all.
        let is_without = self.configuration.is_monitored() && self.mirror.made_at(&JobPath::fire(item))?.is_none();
        let is_made_since = is_without || self.evidence_since(item, at)? == Evidence::MadeSince;
        Ok(is_made_since.then_some(since))
    }

    /// Since when the job is registered, by the clock of the registry center, if that is after this time: the registry center
    /// may have lost its data, and what began before has no record any more.
    ///
    /// A new job and a process that starts while the data get lost look the same. By a clock that is behind, a fire may come
    /// here after the job was registered, and was due before it. At the same millisecond is not before: a new job may be
    /// triggered at once.
    fn registered_since(&self, at: i64) -> Result<Option<i64>, Unread> {
        Ok(self.mirror.made_at(&JobPath::Config)?.filter(|since| *since > at))
    }

    /// The evidence about an item that, by the records, was not begun for the fire at this time.
    pub(super) fn evidence(&self, item: ShardingItem, at: i64) -> Result<Evidence, Unread> {
        self.evidence_since(item, self.due_time_of(at, item))
    }

    /// The same for what was due at this time. A fire of another job from before the registration is none of this job, however
    /// late that job ended, and by whichever clock.
    fn evidence_since(&self, item: ShardingItem, due: i64) -> Result<Evidence, Unread> {
        let path = JobPath::fire(item);
        // Instances of this implementation create the record with the item, or with its first run.
        let (Some(made_at), Some(record)) = (self.mirror.made_at(&path)?, self.mirror.need(&path)?) else {
            return Ok(Evidence::Java);
        };
        let wide = if self.planted.has(Bug::WideRegistration) { 60_000 } else { 0 };
        if made_at + wide >= due {
            return Ok(Evidence::MadeSince);
        }
        let Some(owner) = self.mirror.need(&JobPath::owner_of(item))? else { return Ok(Evidence::Java) };
        // A Java leader deletes the node of the owner and creates it again with each resharding.
        if owner.czxid > record.mzxid || self.has_java_peers()? {
            return Ok(Evidence::Java);
        }
        Ok(Evidence::NotBegun)
    }

    /// Whether Java instances take part at the moment. The node of one that has no session was copied by an operator.
    pub(in crate::engine) fn has_java_peers(&self) -> Result<bool, Unread> {
        let others = self.mirror.instances().filter(|id| **id != self.identity.instance);
        let are_of_java = others.map(|id| {
            let node = self.mirror.need(&JobPath::Instance(id.clone()))?;
            Ok(node.is_some_and(|known| known.owner.is_some() && is_of_java(&known.data)))
        });
        let (are_of_java, all): (Vec<bool>, _) = read_known(are_of_java);
        // One is enough.
        if are_of_java.contains(&true) { Ok(true) } else { all.map(|()| false) }
    }

    /// Reports which fires before this one no instance began for items that came here.
    pub(super) fn tell_unbegun(&mut self, fire: Fire, items: &[ShardingItem]) -> Result<(), Unread> {
        let Fire::Scheduled(at) = fire else { return Ok(()) };
        let Some(fires) = self.own_fires() else { return Ok(()) };
        // What is missing of thousands of items is read together.
        let unbegun: Vec<(i64, ShardingItem)> = read_found(items.iter().map(|item| {
            let Some(from) = self.first_unbegun(&fires, *item, at)? else { return Ok(None) };
            Ok((self.evidence(*item, from)? == Evidence::NotBegun).then_some((from, *item)))
        }))?;
        let Some(from) = unbegun.iter().map(|(from, _)| *from).min() else { return Ok(()) };
        // The write that follows may be refused, and be tried again.
        unbegun.iter().for_each(|(from, item)| self.fires.reported.note_before(*item, *from, at));
        let items = unbegun.into_iter().map(|(_, item)| item).collect();
        if !self.planted.has(Bug::SilentGivenUp) {
            self.tell(Notice::NotBegun { items, from, before: at });
        }
        Ok(())
    }

    /// The first fire of an item after those that its record covers or has as missed, if it comes before this one and this
    /// instance said nothing of it. While the session of a dead instance lasts, nobody begins its items: whoever takes its
    /// run over may become their owner after several fires. Who began the item last may be the same process, or another one
    /// with the same name, and the item may have been elsewhere since.
    fn first_unbegun(&self, fires: &OwnFires, item: ShardingItem, at: i64) -> Result<Option<i64>, Unread> {
        let record = self.record_of(item)?;
        // Mostly it was begun for the fire before this one.
        let is_next = |through| fires.next_after(item, through).is_none_or(|next| next >= at);
        if record.through.is_some_and(is_next) && record.ahead.is_none() {
            return Ok(None);
        }
        let since = match fires {
            // Before the schedule was followed other fires were due, or no fire was recorded.
            OwnFires::Scheduled(_) => self.schedule_followed_since()?,
            OwnFires::Decided(_) => None,
        };
        if since.is_none() && matches!(fires, OwnFires::Scheduled(_)) {
            return Ok(None);
        }
        let next_after = |after| fires.next_after(item, after);
        let first_after = |through: i64| {
            // What a clock far ahead began has run. What is noted as missed was reported by whoever noted it.
            let decided = record.to_make_up().map_or(through, |missed| missed.max(through));
            let first = next_after(decided).filter(|first| record.ahead != Some(*first));
            let first = first.or_else(|| next_after(record.ahead?))?;
            self.fires.reported.first_unsaid(item, first, next_after).filter(|first| *first < at)
        };
        let through = record.through.max(since);
        if through.is_some_and(|through| first_after(through).is_none()) {
            return Ok(None);
        }
        // The fires from before there was such an item are none of its own. Of one that this instance made that has to be read.
        Ok(through.max(self.mirror.made_at(&JobPath::fire(item))?).and_then(first_after))
    }

    /// Reports how late a fire begins, when that is worth a line.
    pub(super) fn tell_late(&mut self, now: Now, fire: Fire, source: ExecutionSource, items: Vec<ShardingItem>) {
        let Fire::Scheduled(at) = fire else { return };
        let late = |item: &ShardingItem| lateness(now, self.due_time_of(at, *item));
        let items: Vec<ShardingItem> = items.into_iter().filter(|item| late(item) > SAID_FROM).collect();
        let Some(late) = items.iter().map(late).max() else { return };
        if source != ExecutionSource::NormalTrigger {
            return;
        }
        let open = self.fires.open.as_deref().filter(|open| open.key.fire == fire);
        let why = open.map_or(LateCause::Waited, |open| open.why_late);
        self.tell(Notice::BegunLate { fire, items, seconds: late.as_secs(), why });
    }
}

/// How late a fire of a monitored job may begin; `None` where it may until the next one is due.
pub(crate) fn late_limit(configuration: &JobConfiguration) -> Option<Duration> {
    match configuration.max_late_begin_seconds() {
        Some(seconds) => Some(Duration::from_secs(seconds.into())),
        None if configuration.misfire() => None,
        None => Some(LATE_ACQUISITION),
    }
}

/// Whether an item is given up for a fire.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GivesUp {
    /// It may begin.
    No,
    /// The fire does not concern this item.
    Silently,
    /// It may not begin, and the reason is reported.
    Because(SkipReason),
}

/// How long ago a fire was due by the clock of this host.
pub(super) fn lateness(now: Now, at: i64) -> Duration {
    u64::try_from(now.wall - at).map_or(Duration::ZERO, Duration::from_millis)
}
