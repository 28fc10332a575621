//! The Slurm settings of an application.

use std::collections::BTreeMap;

use elasticjob::config::Message;
use serde::{Deserialize, Serialize};

use crate::texts;

/// The options of the submission of the processes of an application, for the carrier `SLURM`. What is not given is decided by the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SlurmSettings {
    /// The partition. `queueName` of a job wins over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The account that is charged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The quality of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// The features that a node has to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// The time that a process may run, in minutes; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit_minutes: Option<u32>,
}

impl SlurmSettings {
    /// Reads them. Each problem is given to `wrong` with its field.
    pub(super) fn of(mut given: BTreeMap<String, String>, mut wrong: impl FnMut(String, Message)) -> Self {
        let mut word = |name: &str| {
            let value = given.remove(name)?;
            // It becomes an option of a command.
            if value.is_empty() || value.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
                let shown = texts::quoted(value.escape_debug().to_string());
                wrong(format!("slurm.{name}"), texts::wrong_value(shown, texts::give_word()));
                return None;
            }
            Some(value)
        };
        let settings = Self {
            partition: word("partition"),
            account: word("account"),
            qos: word("qos"),
            constraint: word("constraint"),
            time_limit_minutes: None,
        };
        let limit = word("timeLimitMinutes");
        let minutes = limit.as_ref().and_then(|limit| limit.parse().ok()).filter(|minutes| *minutes > 0);
        if let (Some(limit), None) = (&limit, minutes) {
            wrong("slurm.timeLimitMinutes".to_owned(), texts::wrong_value(limit, texts::give_count_from(1_u32)));
        }
        for name in given.into_keys() {
            let known = "partition, account, qos, constraint, timeLimitMinutes";
            wrong(format!("slurm.{name}"), texts::no_such_setting(known));
        }
        Self { time_limit_minutes: minutes, ..settings }
    }

    /// Whether the cluster decides everything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::model::App;

    fn app(slurm: serde_json::Value) -> Result<App, Vec<(String, String)>> {
        let app = json!({ "appName": "a", "appURL": "file:///a.sh", "bootstrapScript": "./a.sh", "slurm": slurm });
        App::from_json(app)
            .map_err(|problems| problems.0.into_iter().map(|one| (one.field, one.reason.to_string())).collect())
    }

    #[test]
    fn settings_are_read_as_they_are_written() {
        let given = json!({ "partition": "main", "account": "shop", "timeLimitMinutes": 90 });
        let app = app(given.clone()).unwrap();
        assert_eq!(serde_json::to_value(&app.slurm).unwrap(), given);
        let again: App = serde_json::from_value(serde_json::to_value(&app).unwrap()).unwrap();
        assert_eq!(again, app);
    }

    #[test]
    fn all_that_is_wrong_is_told_by_field() {
        let wrong = json!({ "partition": "main --wrap=id", "timeLimitMinutes": 0, "queue": "x" });
        let told = app(wrong).unwrap_err();
        let fields: Vec<&str> = told.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["slurm.partition", "slurm.timeLimitMinutes", "slurm.queue"]);
        assert!(told[2].1.contains("partition, account, qos"), "{told:?}");
    }
}
