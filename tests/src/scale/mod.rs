//! The pictures of the scale simulation.

mod chart;

pub use chart::{Chart, Line};
