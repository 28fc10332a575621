//! The error of a text that is not a cron expression, with a caret under its place.

use std::fmt;
use std::ops::Range;

use super::CronField;
use crate::message::Message;
use crate::texts;

/// A text that is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronError {
    /// The text that was parsed.
    pub expression: String,
    /// The field with the error; `None` when the error is in the expression as a whole.
    pub field: Option<CronField>,
    /// The bytes of the expression with the error.
    pub span: Range<usize>,
    /// The error and the remedy, without the name of the field.
    pub reason: Message,
}

impl CronError {
    /// The expression, and under it a caret line with the reason:
    ///
    /// ```text
    /// 0 0 24 * * ?
    ///     ^^ hour: 24 is out of range, allowed is 0 to 23
    /// ```
    pub fn caret(&self) -> String {
        let line: String = self.expression.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let width = |range: Range<usize>| self.expression.get(range).map_or(0, |text| text.chars().count());
        let carets = "^".repeat(width(self.span.clone()).max(1));
        let line = line.trim_end();
        format!("{line}\n{}{carets} {}", " ".repeat(width(0..self.span.start)), self.cause())
    }

    /// The message: what is wrong, with the text that was parsed.
    pub fn message(&self) -> Message {
        texts::cron_invalid(&self.expression, self.cause())
    }

    fn cause(&self) -> Message {
        match self.field {
            Some(field) => texts::cron_in_field(field.to_string(), self.reason.clone()),
            None => self.reason.clone(),
        }
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for CronError {}
