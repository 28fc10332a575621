//! The built-in error handlers.

#[cfg(feature = "email")]
mod email;
#[cfg(feature = "http")]
mod webhook;
mod without_options;

use std::sync::Arc;

use crate::api::AnyJobErrorHandler;
use crate::config::{Invalid, JobConfiguration, OptionNames};
use crate::type_registry::{ByType, TypeOrigin};

/// The error handlers that a process has.
pub type ErrorHandlers = ByType<AnyJobErrorHandler>;

impl ErrorHandlers {
    /// The error handlers of ElasticJob.
    pub fn built_in() -> Self {
        let mut handlers =
            Self::with_features("error handler", &[("EMAIL", "email"), ("WECHAT", "http"), ("DINGTALK", "http")]);
        let all = [
            AnyJobErrorHandler::new(without_options::Log),
            AnyJobErrorHandler::new(without_options::Throw),
            AnyJobErrorHandler::new(without_options::Ignore),
            #[cfg(feature = "email")]
            AnyJobErrorHandler::new(email::Email),
            #[cfg(feature = "http")]
            AnyJobErrorHandler::new(webhook::WeChat::default()),
            #[cfg(feature = "http")]
            AnyJobErrorHandler::new(webhook::DingTalk::default()),
        ];
        for handler in all {
            let name = handler.type_name().to_owned();
            handlers.add(&name, TypeOrigin::BuiltIn, Arc::new(handler)).expect("each has its own name");
        }
        handlers
    }

    /// The problems of the handler that a configuration names, and of its options.
    pub fn problems(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        match self.get(configuration.error_handler_type()) {
            Ok(handler) => handler.check(configuration),
            Err(unknown) => vec![Invalid::new("job-error-handler-type", unknown.message())],
        }
    }

    /// The options of the handler that a configuration names.
    pub(crate) fn options(&self, configuration: &JobConfiguration) -> OptionNames {
        self.get(configuration.error_handler_type()).map(|handler| handler.options()).unwrap_or_default()
    }

    /// The problems that only this host shows, of the options of the handler that a configuration names.
    pub fn problems_at_start(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let handler = self.get(configuration.error_handler_type());
        handler.map(|handler| handler.check_at_start(configuration)).unwrap_or_default()
    }
}
