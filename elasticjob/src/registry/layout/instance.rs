//! The data of `instances/{id}`: YAML as Java writes it.

use crate::ident::InstanceId;
use crate::yaml::snakeyaml::Document;
use crate::yaml::{self, Limits, Value};

const ID: &str = "jobInstanceId";
const SERVER: &str = "serverIp";

/// The last line of an instance node of this implementation. Java's reader ignores comments.
const OURS: &str = "# elasticjob for Rust\n";

/// Far more than any release writes.
const LIMITS: Limits = Limits { bytes: 16 * 1024, nodes: 1_000 };

/// The data of the node of an instance.
pub(crate) fn instance_yaml(instance: &InstanceId) -> String {
    let mut out = Document::default();
    out.text(ID, instance.as_str());
    out.text(SERVER, instance.server_ip());
    out.into_string() + OURS
}

/// Whether the node is of a Java instance, which writes no records of its runs.
pub(crate) fn is_of_java(data: &[u8]) -> bool {
    !data.ends_with(OURS.as_bytes())
}

/// The server of an instance, as `servers/{ip}` names it. The address in the id is taken where the data name none: the
/// first releases of 3.0 left them empty. Java takes the address of the reader there.
pub(crate) fn server_of(instance: &InstanceId, data: &[u8]) -> String {
    named_server(data).unwrap_or_else(|| instance.server_ip().to_owned())
}

fn named_server(data: &[u8]) -> Option<String> {
    let root = yaml::parse(std::str::from_utf8(data).ok()?, LIMITS).ok()??;
    let Value::Map(entries) = root.value else { return None };
    let server = entries.iter().rfind(|(key, _)| key.text() == Some(SERVER));
    server.and_then(|(_, value)| value.text()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn an_instance_is_written_as_java_writes_it_with_a_comment_and_read_back() {
        let id = InstanceId::of_process("192.0.2.2", 23038);
        let yaml = instance_yaml(&id);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/wire/instance.yaml");
        let of_java = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(yaml, format!("{of_java}# elasticjob for Rust\n"));
        assert!(is_of_java(of_java.as_bytes()) && is_of_java(b"") && !is_of_java(yaml.as_bytes()));
        assert_eq!(server_of(&id, yaml.as_bytes()), "192.0.2.2");
        let elsewhere = format!("jobInstanceId: {id}\nlabels: x\nserverIp: 192.0.2.3\n");
        assert_eq!(server_of(&id, elsewhere.as_bytes()), "192.0.2.3");
    }

    #[test]
    fn the_id_names_the_server_where_the_data_do_not() {
        let id = InstanceId::of_process("192.0.2.2", 23038);
        let unusable = ["", "a", "- serverIp\n", "serverIp:\n", "serverIp: [1]\n", "jobInstanceId: 1\n", "{"];
        for data in unusable.map(str::as_bytes).into_iter().chain([&b"\xff"[..]]) {
            assert_eq!(server_of(&id, data), "192.0.2.2", "{data:?}");
        }
    }

    #[test]
    fn an_instance_on_a_host_without_ipv4_reads_back() {
        // Unquoted, the last one would be a number to the base of 60.
        for ip in ["2001:db8::30", "::1", "2001:10:20:30:40:50:6:7"] {
            let yaml = instance_yaml(&InstanceId::of_process(ip, 7));
            assert_eq!(server_of(&InstanceId::of_process("192.0.2.2", 7), yaml.as_bytes()), ip);
        }
    }
}
