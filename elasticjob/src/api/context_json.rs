//! The sharding context as JSON, in the form that ElasticJob 3.0.5 passes to scripts and HTTP endpoints.

use std::fmt;

use serde::Serialize;

use super::ShardingContext;

/// The sharding context as ElasticJob 3.0.5 passes it to scripts: its text is JSON with the keys in this order, no key for a
/// missing value, and the characters escaped that Gson escapes for HTML.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextJson<'a> {
    /// The job.
    pub job_name: &'a str,
    /// The id of the run as ElasticJob writes it.
    pub task_id: &'a str,
    /// The number of items of the job.
    pub sharding_total_count: u32,
    /// The parameter of the job; empty where it has none.
    pub job_parameter: &'a str,
    /// The item.
    pub sharding_item: u32,
    /// The parameter of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharding_parameter: Option<&'a str>,
}

impl<'a> From<&'a ShardingContext> for ContextJson<'a> {
    fn from(context: &'a ShardingContext) -> Self {
        Self {
            job_name: context.job_name().as_str(),
            task_id: context.task_id().as_str(),
            sharding_total_count: context.sharding_total_count(),
            job_parameter: context.job_parameter(),
            sharding_item: context.sharding_item(),
            sharding_parameter: context.sharding_parameter(),
        }
    }
}

impl fmt::Display for ContextJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        // In JSON these characters occur only inside texts.
        json.chars().try_for_each(|character| match character {
            '=' | '&' | '<' | '>' | '\'' | '\u{2028}' | '\u{2029}' => write!(f, "\\u{:04x}", u32::from(character)),
            other => write!(f, "{other}"),
        })
    }
}

impl ContextJson<'_> {
    /// The same in ASCII only, for headers: equal as JSON.
    #[cfg(feature = "http")]
    pub(crate) fn in_ascii(&self) -> String {
        let json = self.to_string();
        let mut escaped = String::with_capacity(json.len());
        for character in json.chars() {
            match character {
                ' '..='~' => escaped.push(character),
                other => {
                    let mut units = [0; 2];
                    other.encode_utf16(&mut units).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
                }
            }
        }
        escaped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::fixture::context;

    #[test]
    fn it_is_what_java_writes() {
        // Written by ElasticJob 3.0.5.
        let expected = concat!(
            r#"{"jobName":"myJob","taskId":"myJob@-@0,1@-@READY@-@10.0.0.1@-@1234","shardingTotalCount":3,"#,
            r#""jobParameter":"a\u003db","shardingItem":0,"shardingParameter":"Beijing"}"#
        );
        let context = context("myJob", "a=b", "0=Beijing", &[("script.command.line", "x")]);
        assert_eq!(ContextJson::from(&context).to_string(), expected);
    }

    #[cfg(feature = "http")]
    #[test]
    fn in_ascii_it_is_the_same() {
        let context = context("任务", "a=b \u{7f}\u{1f600}\t", "0=北京", &[]);
        let (json, ascii) = (ContextJson::from(&context).to_string(), ContextJson::from(&context).in_ascii());
        assert!(ascii.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{ascii}");
        assert!(ascii.contains(r"\ud83d\ude00") && ascii.contains(r#""\u4efb\u52a1""#), "{ascii}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&ascii), value(&json));
    }

    #[test]
    fn what_is_missing_is_left_out_and_other_languages_stay_readable() {
        let context = context("任务", "<'&>\u{2028}\"\\", "", &[]);
        let json = ContextJson::from(&context).to_string();
        assert!(json.contains(r#""jobParameter":"\u003c\u0027\u0026\u003e\u2028\"\\","#), "{json}");
        assert!(json.contains(r#""jobName":"任务""#) && !json.contains("shardingParameter"), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["jobParameter"], "<'&>\u{2028}\"\\");
    }
}
