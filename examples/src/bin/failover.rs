//! Failover: an instance is lost in the middle of a run, and another one takes its item over.
//!
//! ```text
//! cargo run --bin failover        # no service needed; ends by itself
//! ```
//!
//! Two instances of one job, `north` and `south`, share a registry inside this process. The program ends the session of
//! one of them while that instance runs item 0; ZooKeeper does the same to a process that was killed. The other
//! instance begins the item again, with the source `FAILOVER`, the same scheduled time and a higher fencing token. It
//! finds in the ledger what was booked before, and the ledger refuses bookings of the lost run that come later.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::api::{JobResult, ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::memory::{MemoryRegistry, MemoryRegistryCenter};
use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
use tokio::sync::mpsc;

/// The number of steps that each item books, one after the other.
const STEPS: u32 = 5;
const STEP_TAKES: Duration = Duration::from_millis(200);
/// The item whose instance is lost, and the step after which it is lost.
const LOST_ITEM: u32 = 0;
const LOST_AFTER: u32 = 2;

/// The storage of the items: a database table in real life, with the token of the last writer in the row.
#[derive(Debug, Default)]
struct Ledger(Mutex<BTreeMap<u32, Account>>);

#[derive(Debug, Default)]
struct Account {
    token: i64,
    booked: BTreeSet<u32>,
}

#[derive(Debug)]
enum Booking {
    Booked,
    /// An earlier run booked it: the work is not done twice.
    BookedBefore,
    /// A later run writes to this item: the booking is refused.
    Refused,
}

impl Ledger {
    fn book(&self, item: u32, step: u32, token: i64) -> Booking {
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts.entry(item).or_default();
        if token < account.token {
            return Booking::Refused;
        }
        account.token = token;
        if account.booked.insert(step) { Booking::Booked } else { Booking::BookedBefore }
    }
}

/// A message of a run to the main function.
struct Progress {
    instance: &'static str,
    item: u32,
    step: u32,
    token: i64,
}

async fn settle(
    context: ShardingContext,
    instance: &'static str,
    ledger: Arc<Ledger>,
    progress: mpsc::UnboundedSender<Progress>,
) -> JobResult {
    let (item, at, source) = (context.sharding_item(), context.scheduled_at().to_rfc3339(), context.source());
    let token = context.fencing_token().ok_or("only monitored runs have a fencing token")?;
    println!("{instance}: item {item} of {at} begins, source {source}, token {token}");
    for step in 1..=STEPS {
        tokio::time::sleep(STEP_TAKES).await;
        println!("{instance}: item {item} step {step}: {:?}", ledger.book(item, step, token));
        progress.send(Progress { instance, item, step, token })?;
    }
    println!("{instance}: item {item} is done");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    elasticjob_starter::init_logging()?;
    let environment = JobEnvironment::builder().build()?;
    let (registry, ledger) = (MemoryRegistry::new(), Arc::new(Ledger::default()));
    let (sender, mut progress) = mpsc::unbounded_channel();

    let mut instances: BTreeMap<&str, (Arc<MemoryRegistryCenter>, ScheduleJobBootstrap)> = BTreeMap::new();
    for name in ["north", "south"] {
        // Each instance has a session of its own, as two processes would have. The session may end ten seconds after
        // the last sign of life.
        let session = Arc::new(registry.connect_with_timeout(Duration::from_secs(10)));
        let configuration = JobConfiguration::builder("settlement", 2).cron("0/5 * * * * ?").failover(true).build()?;
        let (ledger, sender) = (ledger.clone(), sender.clone());
        let handler = item_handler(move |context| settle(context, name, ledger.clone(), sender.clone()));
        let mut job = ScheduleJobBootstrap::new(&environment, session.clone(), configuration, handler)?;
        job.schedule().await?;
        instances.insert(name, (session, job));
    }

    let lost = loop {
        let step = progress.recv().await.ok_or("the instances have gone")?;
        if (step.item, step.step) == (LOST_ITEM, LOST_AFTER) {
            break step;
        }
    };
    let (session, _) = &instances[lost.instance];
    println!("the session of {} ends, as that of a process that was killed", lost.instance);
    session.close().await;

    loop {
        let step = progress.recv().await.ok_or("nobody took the item over")?;
        if step.item != LOST_ITEM || step.instance == lost.instance {
            continue;
        }
        if step.step == LOST_AFTER {
            // If the lost instance had only been frozen, it would wake up now and go on.
            let late = ledger.book(LOST_ITEM, LOST_AFTER + 1, lost.token);
            println!("{}: item {LOST_ITEM} step {}, late: {late:?}", lost.instance, LOST_AFTER + 1);
        }
        if step.step == STEPS {
            break;
        }
    }
    for (name, (_, job)) in &mut instances {
        if *name != lost.instance {
            job.shutdown(ShutdownMode::Graceful).await;
        }
    }
    Ok(())
}
