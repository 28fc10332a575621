//! A network of their own for the clusters of a test program.
//!
//! Each pod brings the network of its node another interface, and Chromium gives up what it requests whenever its network gets
//! one (`ERR_NETWORK_CHANGED`): beside a cluster in the network of the host the tests of the console would fail.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::build;
use super::image::BUSYBOX;

/// Set in a program that has a network of its own.
const ENTERED: &str = "ELASTICJOB_TEST_OWN_NETWORK";

/// The only interface is the loopback. The kubelet takes the address of a node from the default route, and wants none of 127.0.0.1.
const SET_UP: &str = "set -e; ip=\"$1 ip\"; shift
    $ip link set lo up; $ip addr add 10.122.0.1/32 dev lo; $ip route add default dev lo; exec \"$@\"";

/// Starts this program anew in a network of its own, with its arguments, unless it has one. What Go fetches is fetched before.
///
/// # Errors
/// When the program of the clusters does not build, or there is no such network.
pub(crate) fn enter() -> io::Result<()> {
    if env::var_os(ENTERED).is_some() {
        return Ok(());
    }
    build::program()?;
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", SET_UP, "sh", BUSYBOX]).arg(env::current_exe()?).args(env::args_os().skip(1));
    Err(command.env(ENTERED, "1").exec())
}
