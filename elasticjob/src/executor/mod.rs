//! Runs the items of a fire.

mod end;
mod item;

pub use end::{ItemEnd, ItemOutcome};
pub use item::{RunningItem, spawn_item};
