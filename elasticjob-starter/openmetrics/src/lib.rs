//! Pages of metrics, as Prometheus and all that reads its formats scrape them.
//!
//! A page is written again for each scrape, from what is known at that moment: see [`text`]. [`answer`] gives it to a client in
//! the format that it accepts.
//!
//! Part of [elasticjob](https://crates.io/crates/elasticjob-starter); not meant to be used without it.

mod answer;
mod classic;
mod page;

pub use answer::{OPENMETRICS, answer};
pub use page::{Labels, Page, text};
