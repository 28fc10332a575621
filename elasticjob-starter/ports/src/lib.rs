//! Serves pages on a port of a program whose jobs come first.
//!
//! A connection takes a file descriptor, and so does each connection to the registry center. So a [`Port`] has [`Limits`]:
//! clients that only connect, by mistake or on purpose, never take what the jobs need.
//!
//! Part of [elasticjob](https://crates.io/crates/elasticjob-starter); not meant to be used without it.

mod limits;
mod port;
mod shares;

#[cfg(test)]
mod tests;

pub use limits::Limits;
pub use port::Port;
