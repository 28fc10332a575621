//! The ZooKeeper registry center, for servers from 3.6 on.
//!
//! The whole process has one session. It lives on the system runtime, so that code of the program can never starve it.
//! This module adds what the client library does not do: watches that outlive connections, calls that fail instead of
//! waiting without limit, new sessions after an expiry.
//!
//! Without the feature `zookeeper` there is no client. The configuration exists then, and its check reports that the
//! client is missing.

#[cfg(feature = "zookeeper")]
mod access;
#[cfg(feature = "zookeeper")]
mod answer;
#[cfg(feature = "zookeeper")]
mod center;
#[cfg(feature = "zookeeper")]
mod client_options;
mod config;
mod connect_error;
#[cfg(feature = "zookeeper")]
mod diagnose;
#[cfg(feature = "zookeeper")]
mod dial;
#[cfg(feature = "zookeeper")]
mod grants;
#[cfg(feature = "zookeeper")]
mod session;
mod tls;
#[cfg(feature = "zookeeper")]
mod watch;
#[cfg(feature = "zookeeper")]
mod watchdog;
#[cfg(feature = "zookeeper")]
mod writes;

#[cfg(feature = "zookeeper")]
pub use self::center::ZookeeperRegistryCenter;
pub use self::config::{InvalidSetting, ZookeeperConfiguration};
pub use self::connect_error::ConnectError;
pub use self::tls::ZookeeperTls;
