//! Failover: an instance is lost in the middle of a run, and another one takes its item over.
//!
//! ```text
//! cargo run --bin failover        # no service needed; ends by itself
//! ```
//!
//! Two instances of one job, `north` and `south`, share a registry inside this process. The session of one of them is
//! ended while it runs item 0, which is what ZooKeeper does to a process that was killed. The other one begins the item
//! again, with the source `FAILOVER`, the same scheduled time and a higher fencing token. It finds in the ledger what was
//! booked before, and the ledger refuses what the lost run would still book.

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

/// Each item books so many steps, one after the other.
const STEPS: u32 = 5;
const STEP_TAKES: Duration = Duration::from_millis(200);
/// The item whose instance is lost, and after which step.
const LOST_ITEM: u32 = 0;
const LOST_AFTER: u32 = 2;

/// What the items write to: a database table in real life, with the token of the last writer in the row.
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
    /// By a run before this one: the work is not done twice.
    BookedBefore,
    /// A later run writes to this item.
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

/// What a run tells the main function.
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
        // A session of its own for each, as two processes would have. Ten seconds after the last sign of life it may end.
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
            // Had it only been frozen, it would wake up now and go on.
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
