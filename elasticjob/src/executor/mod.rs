//! Runs the items of a fire, and calls the listeners around them.

mod end;
mod item;
mod launcher;
mod listeners;
mod pool;
mod running;
mod turns;

pub use end::{ExecutionEnd, ItemOutcome};
pub use item::spawn_item;
pub use launcher::Launcher;
pub use listeners::spawn_listeners;
#[cfg(test)]
pub(crate) use pool::{CPU, SINGLE_THREAD};
pub use pool::{Slots, ThreadPools};
pub use running::Running;
