//! Counts what the jobs do, and opens the metrics port of the settings.

#[cfg(feature = "metrics")]
mod built_in;

#[cfg(feature = "metrics")]
pub(super) use built_in::{MetricsPort, begin, problems};
#[cfg(not(feature = "metrics"))]
pub(super) use left_out::{MetricsPort, begin, problems};

#[cfg(not(feature = "metrics"))]
mod left_out {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::net::SocketAddr;
    use std::sync::Arc;

    use elasticjob::ident::JobName;
    use elasticjob::registry::RegistryCenter;
    use elasticjob::runtime::{JobEnvironment, JobStatus};
    use elasticjob::trace::Tracing;
    use tokio::sync::watch;

    use crate::AppError;
    use crate::app::ElasticJobAppBuilder;
    use crate::plan::Plan;
    use crate::settings::{Key, MetricsSettings, SettingError};

    /// There is none.
    pub(in super::super) struct Counting(Infallible);

    /// There is none.
    pub(in super::super) struct MetricsPort(Infallible);

    impl MetricsPort {
        pub(in super::super) fn address(&self) -> SocketAddr {
            match self.0 {}
        }

        pub(in super::super) async fn close(self) {
            match self.0 {}
        }
    }

    impl Counting {
        pub(in super::super) fn observing(&self, _: JobEnvironment) -> JobEnvironment {
            match self.0 {}
        }

        pub(in super::super) fn center(&self, _: &str, _: Arc<dyn RegistryCenter>) -> Arc<dyn RegistryCenter> {
            match self.0 {}
        }

        pub(in super::super) fn follow(
            &self,
            _: impl Iterator<Item = (JobName, watch::Receiver<JobStatus>)>,
            _: &BTreeMap<String, Tracing>,
        ) {
            match self.0 {}
        }

        pub(in super::super) async fn open(&self, _: &MetricsSettings) -> Result<Option<MetricsPort>, AppError> {
            match self.0 {}
        }
    }

    pub(in super::super) fn problems(settings: &MetricsSettings) -> Vec<SettingError> {
        let key = Key::of(["metrics", "port"]).to_string();
        let reason = "add `features = [\"metrics\"]` to elasticjob-starter in Cargo.toml".to_owned();
        let is_wanted = settings.port.is_some();
        let missing = SettingError::NotBuiltIn { origin: settings.origin.clone(), key, reason };
        is_wanted.then_some(missing).into_iter().collect()
    }

    pub(in super::super) fn begin(_: &ElasticJobAppBuilder, _: &MetricsSettings, _: &Plan) -> Option<Counting> {
        None
    }

    #[cfg(test)]
    mod tests {
        use crate::ElasticJobApp;
        use crate::settings::Sources;

        #[tokio::test]
        async fn a_metrics_port_without_the_feature_is_an_error_that_names_the_feature() {
            let sources = Sources::in_folder(std::env::temp_dir().join("elasticjob-no-such-folder"));
            let started = ElasticJobApp::builder().sources(sources).args(["--elasticjob.metrics.port=0"]).start().await;
            let error = started.map(|_| ()).expect_err("the feature is off").to_string();
            assert!(
                error.contains("elasticjob.metrics.port") && error.contains("`features = [\"metrics\"]`"),
                "{error}"
            );
        }
    }
}
