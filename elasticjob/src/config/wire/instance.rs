//! The node of an instance.

use super::document::{map_of, single};
use super::{WireError, emit, text_of};
use crate::ident::InstanceId;

/// The content of the node `instances/{id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceNode {
    /// The id of the instance.
    pub instance: InstanceId,
    /// The server it runs on, as `servers/{ip}` names it.
    pub server_ip: String,
}

/// The last line of an instance node of this implementation. Java's reader ignores comments.
const OURS: &str = "# elasticjob for Rust\n";

/// The text of a node `instances/{id}`.
pub fn instance_yaml(instance: &InstanceId) -> String {
    let mut out = emit::Document::default();
    out.text("jobInstanceId", instance.as_str());
    out.text("serverIp", instance.server_ip());
    out.into_string() + OURS
}

/// Whether a node `instances/{id}` is of a Java instance, which writes no records of its runs.
pub fn is_of_java(data: &[u8]) -> bool {
    !data.ends_with(OURS.as_bytes())
}

/// Reads a node `instances/{id}`; keys of other releases are ignored. A missing server is taken from the id; Java takes
/// the address of the reader there.
///
/// # Errors
/// [`WireError`] when it is no map, or names no instance. The first releases of 3.0 left the node empty.
pub fn instance_from_yaml(data: &[u8]) -> Result<InstanceNode, WireError> {
    let (mut id, mut server_ip) = (None, None);
    for (key, value) in map_of(text_of(data)?)? {
        match key.as_str() {
            "jobInstanceId" => id = single(&key, &value)?,
            "serverIp" => server_ip = single(&key, &value)?,
            _ => {}
        }
    }
    let id = id.unwrap_or_default();
    let instance = InstanceId::new(id.clone()).map_err(|_| WireError::Type {
        key: "jobInstanceId",
        value: id,
        expected: "the id of an instance, for example 192.0.2.2@-@23038",
    })?;
    let server_ip = server_ip.unwrap_or_else(|| instance.server_ip().to_owned());
    Ok(InstanceNode { instance, server_ip })
}
