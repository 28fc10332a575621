//! Own kinds of jobs of a program: one executor runs all jobs of a kind, and each job is code of that kind.

use std::future::Future;
use std::sync::Arc;

use super::{ItemHandler, JobResult, ShardingContext, item_handler};
use crate::config::{ConfigurationCheck, Invalid, JobConfiguration, OptionNames, caught};

/// Runs the items of all jobs of a kind. With it a program has its own kinds beside `SIMPLE` and `DATAFLOW`: a trait
/// says what the author of a job writes, and this executor says what happens with it. The `ClassedJobItemExecutor` of
/// Java. Jobs without code are of a [type](super::JobType).
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use elasticjob::api::{JobClass, ItemHandler, JobResult, ShardingContext, classed_item_handler};
///
/// /// What the author of a report writes.
/// trait Report: Send + Sync {
///     fn lines(&self, region: &str) -> Vec<String>;
/// }
///
/// /// What becomes of a report.
/// struct Reports;
///
/// impl JobClass for Reports {
///     type Job = dyn Report;
///
///     async fn process(&self, report: &Self::Job, context: ShardingContext) -> JobResult {
///         let region = context.sharding_parameter().unwrap_or("all regions");
///         report.lines(region).iter().for_each(|line| println!("{line}"));
///         Ok(())
///     }
/// }
///
/// struct Daily;
///
/// impl Report for Daily {
///     fn lines(&self, region: &str) -> Vec<String> {
///         vec![format!("orders of {region}")]
///     }
/// }
///
/// let handler: ItemHandler = classed_item_handler(Arc::new(Reports), Arc::new(Daily));
/// ```
#[doc(alias = "ClassedJobItemExecutor")]
pub trait JobClass: Send + Sync + 'static {
    /// The code of one job.
    type Job: ?Sized + Send + Sync + 'static;

    /// The problems of the configuration of a job of this kind. A job with problems is not started, and a change of its
    /// configuration that has problems is refused. Must not block. Default: no problems.
    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let _ = configuration;
        Vec::new()
    }

    /// The names of its options. A property that begins like one of them and is not one of them is a likely mistake,
    /// and the library warns of it at start. Default: none, so that it warns of nothing.
    fn options(&self) -> OptionNames {
        &[]
    }

    /// Runs an item of a job.
    fn process(&self, job: &Self::Job, context: ShardingContext) -> impl Future<Output = JobResult> + Send;
}

/// The handler of a job of such a kind: for a bootstrap, or for the application's builder. Jobs of one kind may share
/// the executor.
pub fn classed_item_handler<E: JobClass>(executor: Arc<E>, job: Arc<E::Job>) -> ItemHandler {
    let (checked, options) = (Arc::clone(&executor), executor.options());
    let check =
        ConfigurationCheck::new(move |configuration| caught("elastic-job-class", || checked.check(configuration)));
    let handler = item_handler(move |context| {
        let (executor, job) = (Arc::clone(&executor), Arc::clone(&job));
        async move { executor.process(&job, context).await }
    });
    handler.checked_by(check).with_options(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs that need a property.
    struct Needy;

    impl JobClass for Needy {
        type Job = dyn Fn() -> &'static str + Send + Sync;

        fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
            let missing = || Invalid::prop("needy.table", "is missing");
            configuration.prop("needy.table").is_none().then(missing).into_iter().collect()
        }

        fn options(&self) -> OptionNames {
            &[&["needy.table"]]
        }

        async fn process(&self, job: &Self::Job, _: ShardingContext) -> JobResult {
            Err(job().into())
        }
    }

    #[test]
    fn a_kind_says_what_its_jobs_need() {
        let handler = classed_item_handler(Arc::new(Needy), Arc::new(|| "it ran"));
        let problems = |props: &[&str]| {
            let builder = JobConfiguration::builder("job", 1);
            let job = props.iter().fold(builder, |builder, key| builder.prop(*key, "x")).build().unwrap();
            handler.check().problems(&job).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(problems(&[]), ["props.needy.table: is missing"]);
        assert!(problems(&["needy.table"]).is_empty());
        assert_eq!(handler.options(), [["needy.table"]]);
    }
}
