//! Reading what was traced: typed filters, pages, records, and the interface of readers.

mod filter;
mod page;
mod reader;
mod record;

pub use filter::{ExecutionFilter, StateFilter};
pub use page::{Cursor, CursorError, Page, PageRequest};
pub use reader::{AnyTraceReader, ReadError, TraceReader};
pub use record::{ExecutionOutcome, ExecutionRecord, StateRecord};
