//! Reading what was traced: typed filters, pages, records, and the interface of readers.

mod action;
mod decision_text;
mod filter;
mod fires;
mod page;
mod parts;
mod reader;
mod record;

pub use action::OperatorAction;
pub use filter::{DecisionFilter, ExecutionFilter, LogFilter, StateFilter};
pub use fires::{FireCount, NewestRuns};
pub use page::{Cursor, CursorError, Page, PageRequest};
pub use parts::RunParts;
pub use reader::{AnyTraceReader, ReadError, TraceReader};
pub use record::{DecisionRecord, ExecutionOutcome, ExecutionRecord, LogRecord, RunCount, StateRecord};
