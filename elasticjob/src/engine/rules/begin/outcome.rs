//! Takes the answer of the registry to a begin: it went through, it was refused, or that is not known.

use std::collections::BTreeSet;

use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::fires::Unresolved;
use crate::engine::state::open_fire::OpenFire;
use crate::engine::state::proposal::BeginPlan;
use crate::fire::Fire;
use crate::ident::ShardingItem;
use crate::registry::Zxid;
use crate::registry::layout::JobPath;

impl JobEngine {
    /// The begin went through, unless it is too late to trust it.
    pub(in crate::engine) fn on_begun(
        &mut self,
        now: Now,
        plan: BeginPlan,
        token: Option<Zxid>,
        in_live_session: bool,
    ) {
        let is_recorded = plan.attempt.is_some() && !plan.key.is_takeover();
        if !in_live_session || !self.session.is_proven(now) || (is_recorded && self.needs_server_time(now)) {
            // Begun in the registry, not started here: once the session is proven again, and the server's time is known
            // where the machine was suspended meanwhile, the engine adopts the begin or begins again.
            self.on_begin_unresolved(plan);
            return;
        }
        // Otherwise the other items of the fire follow.
        let is_decided = plan.is_whole && !plan.key.is_takeover();
        if self.is_refused_by_clock(now, &plan) {
            if is_decided {
                self.looked_at(now);
            }
            return;
        }
        if plan.items.is_empty() {
            self.tell_nothing_to_run();
        } else {
            let items = plan.items.iter().map(|item| (*item, token.filter(|_| plan.attempt.is_some()))).collect();
            if plan.key.is_takeover() {
                for item in &plan.items {
                    self.tell(Notice::TakenOver { fire: plan.key.fire, item: *item, from: plan.from.clone() });
                }
            }
            self.start_items(now, plan.key, plan.attempt.as_ref(), items);
        }
        if is_decided {
            self.looked_at(now);
        } else if !plan.is_whole && self.planted.has(Bug::DroppedRest) {
            self.fires.open = None;
        } else if let Some(open) = self.fires.open.as_mut().filter(|open| !plan.is_whole && open.key == plan.key) {
            open.rest_follows = true;
        }
    }

    /// Whether the begin went through is not known, or it came too late to start anything.
    pub(in crate::engine) fn on_begin_unresolved(&mut self, plan: BeginPlan) {
        if self.planted.has(Bug::BlindRetry) {
            return;
        }
        if let Some(attempt) = plan.attempt {
            let unresolved = Unresolved { key: plan.key, attempt, items: plan.items };
            self.fires.unresolved = Some(Box::new(unresolved));
        } else if let Fire::Manual { .. } = plan.key.fire
            && let Some(open) = self.fires.open.as_deref_mut().filter(|open| open.key == plan.key)
        {
            open.tried.extend(plan.items);
        }
    }

    /// The registry refused a begin because of this node, which may be one of an item.
    pub(in crate::engine) fn on_begin_refused(&mut self, plan: &BeginPlan, path: Option<&JobPath>) {
        let of_open = |open: &&mut OpenFire| open.key == plan.key;
        let Some(open) = self.fires.open.as_deref_mut().filter(of_open) else { return };
        let refused: BTreeSet<ShardingItem> = match path {
            Some(JobPath::Item(item, _)) => BTreeSet::from([*item]),
            _ => plan.items.iter().copied().collect(),
        };
        for item in refused {
            *open.refusals.entry(item).or_default() += 1;
        }
    }
}
