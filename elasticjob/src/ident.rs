//! Identifiers: names and ids that are checked once, when they are made. Clones share their text.

use std::fmt::{self, Write};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use elasticjob_syntax::node_name::{check_job_name, check_node};

pub use elasticjob_syntax::node_name::{ID_DELIMITER, InvalidIdent};

/// Number of a sharding item, from 0 to the total count minus 1.
pub type ShardingItem = u32;

/// Name of a job: one segment of a registry path, unique in a namespace.
///
/// Any text that is not blank, `.` or `..`, without `/` and `@-@`, and without the characters that ZooKeeper refuses in
/// a path: control characters, private characters and characters above U+FFEF, such as emoji.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobName(Arc<str>);

impl JobName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`InvalidIdent`] names the character or form that is not allowed.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidIdent> {
        let name = name.into();
        check_job_name(&name)?;
        Ok(Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Id of a job instance: `ip@-@pid`, with a suffix where that id is taken by another session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceId(Arc<str>);

impl InstanceId {
    /// Checks an id.
    ///
    /// # Errors
    /// [`InvalidIdent`] when it is blank or cannot be a node of the registry.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidIdent> {
        let id = id.into();
        check_node("instance id", &id)?;
        Ok(Self(id.into()))
    }

    /// The id of process `pid` on the host with address `ip`.
    pub fn of_process(ip: &str, pid: u32) -> Self {
        Self(format!("{ip}{ID_DELIMITER}{pid}").into())
    }

    /// Another id of the same process, for when this id is taken: `ip@-@pid-4hex`.
    pub(crate) fn with_suffix(&self, suffix: u16) -> Self {
        Self(format!("{}-{suffix:04x}", self.0).into())
    }

    /// The address of the server: the part before `@-@`, or the whole id where there is no `@-@`.
    pub fn server_ip(&self) -> &str {
        // Engines ask for it on every step: a general search in texts takes longer to prepare than this one takes.
        let delimiter = self.0.as_bytes().windows(ID_DELIMITER.len()).position(|part| part == ID_DELIMITER.as_bytes());
        delimiter.map_or(&self.0, |at| &self.0[..at])
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.0.clone()
    }
}

/// Id of an execution as ElasticJob writes it: `job@-@items@-@READY@-@ip@-@pid`.
///
/// It names the job, the items and the instance. It is the same for every run of the same items on the same instance;
/// only the attempt distinguishes such runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(Arc<str>);

impl TaskId {
    /// The task id of a run of `items` on `instance`.
    pub fn new(job: &JobName, items: impl IntoIterator<Item = ShardingItem>, instance: &InstanceId) -> Self {
        // Made for each run: put together by hand, as the general formatting takes several times as long.
        let mut text = String::with_capacity(job.as_str().len() + instance.as_str().len() + 32);
        text.push_str(job.as_str());
        text.push_str(ID_DELIMITER);
        for (place, item) in items.into_iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            // Writing into a text does not fail.
            let _ = write!(text, "{item}");
        }
        for part in [ID_DELIMITER, "READY", ID_DELIMITER, instance.as_str()] {
            text.push_str(part);
        }
        Self(text.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! text_ident {
    ($name:ident, checked) => {
        text_ident!($name);

        impl FromStr for $name {
            type Err = InvalidIdent;

            fn from_str(text: &str) -> Result<Self, InvalidIdent> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidIdent;

            fn try_from(text: String) -> Result<Self, InvalidIdent> {
                Self::new(text)
            }
        }
    };
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(ident: $name) -> String {
                ident.0.as_ref().to_owned()
            }
        }
    };
}

text_ident!(JobName, checked);
text_ident!(InstanceId, checked);
text_ident!(TaskId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_name_that_cannot_be_a_node_is_refused_with_the_reason() {
        for (name, reason) in [
            ("", "blank"),
            (" ", "blank"),
            ("..", "'..'"),
            ("a/b", "'/'"),
            ("a@-@b", "'@-@'"),
            ("a\u{7}", "'a\\u{7}' is not valid: U+0007"),
            ("a\u{9f}", "U+009F"),
            ("\u{e000}", "U+E000"),
            ("a\u{fff0}", "U+FFF0"),
            ("nightly 😀", "U+1F600"),
        ] {
            let error = JobName::new(name).unwrap_err().to_string();
            assert!(error.contains(reason), "{name:?}: {error}");
        }
        for name in ["订单.sync job", "...", "a@b", "\u{ffef}"] {
            assert_eq!(JobName::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn an_instance_id_that_cannot_be_a_node_is_refused_with_the_reason() {
        for (id, reason) in [("", "blank"), (".", "'.'"), ("a/b", "'/'"), ("a\u{85}", "U+0085"), ("host😀", "U+1F600")]
        {
            let error = InstanceId::new(id).unwrap_err().to_string();
            assert!(error.starts_with("instance id '") && error.contains(reason), "{id:?}: {error}");
        }
        assert_eq!(InstanceId::new("192.0.2.2@-@7").unwrap().as_str(), "192.0.2.2@-@7");
    }

    #[test]
    fn an_instance_id_tells_its_server() {
        let id = InstanceId::of_process("192.0.2.2", 23038);
        assert_eq!(id.as_str(), "192.0.2.2@-@23038");
        assert_eq!(id.server_ip(), "192.0.2.2");
        assert_eq!(id.with_suffix(0xab).as_str(), "192.0.2.2@-@23038-00ab");
        assert_eq!(id.with_suffix(0xab).server_ip(), "192.0.2.2");
        assert_eq!("host".parse::<InstanceId>().unwrap().server_ip(), "host");
    }

    #[test]
    fn a_task_id_has_the_five_parts_of_elasticjob() {
        let job = JobName::new("demo").unwrap();
        let id = TaskId::new(&job, [0, 1, 2], &InstanceId::of_process("192.0.2.2", 23038));
        assert_eq!(id.as_str(), "demo@-@0,1,2@-@READY@-@192.0.2.2@-@23038");
        let empty = TaskId::new(&job, [], &InstanceId::of_process("192.0.2.2", 23038));
        assert_eq!(empty.as_str(), "demo@-@@-@READY@-@192.0.2.2@-@23038");
    }
}
