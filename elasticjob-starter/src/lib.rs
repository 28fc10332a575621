//! Starts the jobs of a program from its settings.

pub mod settings;
