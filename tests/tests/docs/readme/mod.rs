//! Keeps README.md, the pages of `docs/guide` and the code in step: the example is built and run as it stands, code is
//! that of the examples, settings are read, commands exist, and links lead somewhere.

mod code;
mod commands;
#[cfg(unix)]
mod example;
mod links;
mod log;
mod pages;
mod settings;
