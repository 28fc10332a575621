//! Opens the web console of the settings.

#[cfg(feature = "console")]
mod built_in;
#[cfg(feature = "console")]
mod traces;

#[cfg(feature = "console")]
pub(super) use built_in::{ConsolePort, open, problems};
#[cfg(not(feature = "console"))]
pub(super) use left_out::{ConsolePort, open, problems};

#[cfg(not(feature = "console"))]
mod left_out {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::sync::Arc;

    use elasticjob::registry::RegistryCenter;
    use elasticjob::trace::Tracing;

    use crate::AppError;
    use crate::plan::Plan;
    use crate::settings::{ConsoleSettings, Key, SettingError, Settings};

    /// There is none.
    pub(in super::super) struct ConsolePort(Infallible);

    impl ConsolePort {
        pub(in super::super) fn url(&self) -> &str {
            match self.0 {}
        }

        pub(in super::super) async fn close(self) {
            match self.0 {}
        }
    }

    pub(in super::super) fn problems(settings: &ConsoleSettings) -> Vec<SettingError> {
        let key = Key::of(["console", "port"]).to_string();
        let reason = "add `features = [\"console\"]` to elasticjob-starter in Cargo.toml".to_owned();
        let is_wanted = settings.port.is_some();
        let missing = SettingError::NotBuiltIn { origin: settings.place("port").clone(), key, reason };
        is_wanted.then_some(missing).into_iter().collect()
    }

    pub(in super::super) async fn open<'r>(
        _: &Settings,
        _: impl Iterator<Item = (&'r str, &'r Arc<dyn RegistryCenter>)>,
        _: &Plan,
        _: &BTreeMap<String, Tracing>,
    ) -> Result<Option<ConsolePort>, AppError> {
        Ok(None)
    }
}
