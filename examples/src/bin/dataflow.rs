//! A dataflow job: each round fetches some open orders and settles them, until there are none.
//!
//! ```text
//! cargo run --bin dataflow
//! ```
//!
//! With `streaming.process` in `dataflow.yaml` a run goes on as long as it fetches something. Without it a run is one
//! round. After the round under way a run also ends when the program is shut down, another instance joins, or an
//! operator disables the item.

use std::path::Path;
use std::sync::Mutex;

use elasticjob_starter::prelude::*;

/// The orders to settle. A real shop has a database.
struct Shop {
    open: Mutex<Vec<Order>>,
}

struct Order {
    id: u32,
    region: &'static str,
}

struct SettleOrders;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2, params = "0=Beijing,1=Shanghai")]
impl SettleOrders {
    /// Those of a region, three at a time.
    async fn fetch(context: ShardingContext, shop: Inject<Shop>) -> Result<Vec<Order>, JobError> {
        let region = context.sharding_parameter().ok_or("the item has no parameter")?;
        let mut open = shop.open.lock().map_err(|_| "the shop is closed")?;
        Ok(open.extract_if(.., |order| order.region == region).take(3).collect())
    }

    async fn process(context: ShardingContext, orders: Vec<Order>) -> JobResult {
        let ids: Vec<u32> = orders.iter().map(|order| order.id).collect();
        println!("{} orders {ids:?} are settled", context.sharding_parameter().unwrap_or_default());
        Ok(())
    }
}

impl Shop {
    fn with_orders(count: u32) -> Self {
        let region = |id: u32| if id.is_multiple_of(2) { "Beijing" } else { "Shanghai" };
        let open = (1..=count).map(|id| Order { id, region: region(id) }).collect();
        Self { open: Mutex::new(open) }
    }
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("dataflow.yaml");
    ElasticJobApp::builder().settings_from(settings).provide(Shop::with_orders(14)).run().await
}
