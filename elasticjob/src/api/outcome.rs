//! The outcome of an item of a fire.

use std::error::Error;
use std::fmt;

use crate::config::Invalid;
use crate::problems::in_one_line;

/// The result of a job function. Any displayable error turns into a [`JobError`] with `?`.
pub type JobResult = Result<(), JobError>;

/// The cause why an item failed, as text with the chain of causes.
///
/// It does not implement [`Error`], so that every error converts into it with `?`.
pub struct JobError(Box<dyn Error + Send + Sync>);

impl JobError {
    /// An error that is only a message.
    pub fn message(text: impl Into<String>) -> Self {
        Self(text.into().into())
    }

    /// An error that can only be displayed. Its alternate form shows the causes, where the type shows them at all.
    pub(super) fn displayed(error: &impl fmt::Display) -> Self {
        Self::message(format!("{error:#}"))
    }

    /// Settings that cannot be used.
    pub(crate) fn settings(problems: Vec<Invalid>) -> Self {
        Self::message(in_one_line(&problems))
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for JobError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A type that the function of a job may return: nothing, or a result whose error can be displayed.
///
/// An error is reported in its alternate form (`{:#}`): errors of `anyhow` and the like list their causes there. A
/// plain [`std::error::Error`] shows only itself. It keeps its causes where the function returns a [`JobResult`]: `?`
/// converts the error into a [`JobError`] then.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a job function may return",
    label = "return `()`, `JobResult` or `Result<(), E>` where `E: Display`"
)]
pub trait IntoJobResult {
    /// Converts it into a [`JobResult`].
    fn into_job_result(self) -> JobResult;
}

impl IntoJobResult for () {
    fn into_job_result(self) -> JobResult {
        Ok(())
    }
}

impl<E: fmt::Display> IntoJobResult for Result<(), E> {
    fn into_job_result(self) -> JobResult {
        self.map_err(|error| JobError::displayed(&error))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Shows its causes as errors of `anyhow` do.
    pub(in crate::api) struct Report;

    impl fmt::Display for Report {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(if f.alternate() { "cannot sync: disk is full" } else { "cannot sync" })
        }
    }

    #[test]
    fn an_error_is_shown_with_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot sync")]
        struct Outer(#[source] std::io::Error);

        fn job() -> JobResult {
            Err(Outer(std::io::Error::other("disk is full")))?
        }
        assert_eq!(job().unwrap_err().to_string(), "cannot sync: disk is full");
    }

    #[test]
    fn any_displayable_error_can_be_returned() {
        assert_eq!(Err::<(), _>("no").into_job_result().unwrap_err().to_string(), "no");
        assert!(().into_job_result().is_ok());
    }

    #[test]
    fn an_error_that_shows_its_causes_in_the_alternate_form_keeps_them() {
        let error = Err::<(), _>(Report).into_job_result().unwrap_err();
        assert_eq!(error.to_string(), "cannot sync: disk is full");
    }
}
