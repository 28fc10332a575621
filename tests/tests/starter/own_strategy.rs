//! Sharding strategies of a program: linked, added by hand, wrong.

use std::path::Path;
use std::time::Duration;

use elasticjob_starter::elasticjob::spi::{Catalog, SHARDING_STRATEGIES};
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// All items to the first instance.
struct First(&'static str);

impl ShardingStrategy for First {
    fn type_name(&self) -> &str {
        self.0
    }

    fn assign(&self, _: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        Assignment::from([(instances[0].clone(), (0..total).collect())])
    }
}

register_sharding_strategy!(First("LINKED"));

#[elastic_job(cron = "* * * * * ?", sharding_total_count = 2)]
async fn job(context: ShardingContext, items: Inject<UnboundedSender<ShardingItem>>) -> JobResult {
    Ok(items.send(context.sharding_item())?)
}

fn sources(strategy: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("own_strategy").join(strategy);
    std::fs::create_dir_all(&folder).unwrap();
    let yaml = format!("elasticjob: {{jobs: {{job: {{job-sharding-strategy-type: {strategy}}}}}}}\n");
    std::fs::write(folder.join("application.yaml"), yaml).unwrap();
    Sources::in_folder(folder)
}

#[test]
fn a_linked_strategy_tells_where_it_was_registered() {
    assert_eq!(SHARDING_STRATEGIES.len(), 1);
    let (file, line) = SHARDING_STRATEGIES[0].place.rsplit_once(':').unwrap();
    assert!(file.ends_with("own_strategy.rs"), "{file}");
    let source: Vec<&str> = include_str!("own_strategy.rs").lines().collect();
    assert!(source[line.parse::<usize>().unwrap() - 1].starts_with("register_sharding_strategy!"), "line {line}");
    let catalog = Catalog::builder().build().unwrap();
    assert_eq!(catalog.sharding_strategies().get("LINKED").unwrap().type_name(), "LINKED");
}

#[tokio::test]
async fn jobs_are_assigned_by_strategies_that_are_linked_or_added() {
    for strategy in ["LINKED", "ADDED"] {
        let (sender, mut items) = unbounded_channel::<ShardingItem>();
        let builder = ElasticJobApp::builder().only_jobs_of(module_path!()).sources(sources(strategy)).provide(sender);
        let app = builder.sharding_strategy(First("ADDED")).start().await.unwrap();
        let mut ran = Vec::new();
        for _ in 0..2 {
            ran.push(timeout(Duration::from_secs(20), items.recv()).await.unwrap().unwrap());
        }
        ran.sort_unstable();
        assert_eq!(ran, [0, 1], "{strategy}");
        app.shutdown().await;
    }
}

#[tokio::test]
async fn names_that_are_taken_and_names_that_there_are_not_are_errors_at_start() {
    let start = |strategy, own| {
        let builder = ElasticJobApp::builder()
            .only_jobs_of(module_path!())
            .sources(sources(strategy))
            .provide(unbounded_channel::<u32>().0);
        builder.sharding_strategy(First(own)).start()
    };
    for (own, first) in [("LINKED", "own_strategy.rs:"), ("ROUND_ROBIN", "built in")] {
        let error = start("LINKED", own).await.expect_err("the name is taken").to_string();
        for part in [&format!("'{own}'"), first, "added by the program"] {
            assert!(error.contains(part), "no {part:?} in: {error}");
        }
    }
    let error = start("MISSING", "ADDED").await.expect_err("there is no such strategy").to_string();
    for part in
        ["application.yaml", "'MISSING'", "ADDED (added by the program)", "LINKED (linked", "ODEVITY (built in)"]
    {
        assert!(error.contains(part), "no {part:?} in: {error}");
    }
}
