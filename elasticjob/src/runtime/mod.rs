//! The edge: drives engines, performs their actions.

pub mod address;
pub mod clock;
pub mod system;
pub mod timers;
