//! The schema of the settings of a job, made of the table that settings files and their documentation are made of.

use elasticjob_syntax::job_option::{JobOption, OptionKind, Unset};
use elasticjob_syntax::job_settings::JOB_SETTINGS;
use serde_json::{Map, Value, json};
use utoipa::openapi::Ref;

/// Its name among the schemas.
pub(super) const NAME: &str = "JobSettings";

/// A place of the schema in the document.
pub(in crate::api) fn reference() -> Ref {
    Ref::from_schema_name(NAME)
}

/// The settings, as settings files have them. A setting that is missing or `null` is not set.
pub(super) fn schema() -> Value {
    let properties: Map<String, Value> =
        JOB_SETTINGS.iter().map(|setting| (setting.key.to_owned(), property(setting))).collect();
    json!({
        "type": "object",
        "description": "Settings of a job, with the names of settings files. One that is missing or null has its default.",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(setting: &JobOption) -> Value {
    let text = || json!({ "type": "string" });
    let mut property = match setting.kind {
        OptionKind::Text | OptionKind::Path => json!({ "type": ["string", "null"] }),
        OptionKind::Name => json!({ "type": ["string", "null"], "minLength": 1 }),
        OptionKind::Flag => json!({ "type": ["boolean", "null"] }),
        OptionKind::Count => json!({ "type": ["integer", "null"], "format": "int32", "minimum": 1 }),
        OptionKind::Number => json!({ "type": ["integer", "null"], "format": "int32" }),
        OptionKind::Names => json!({ "type": ["array", "null"], "items": text() }),
        OptionKind::Props => json!({ "type": ["object", "null"], "additionalProperties": text() }),
    };
    let counts = if setting.counts.is_empty() { String::new() } else { format!(" Unit: {}.", setting.counts) };
    let unset = match setting.unset {
        Unset::Value(value) => format!(" Default: `{value}`."),
        Unset::Words(words) => format!(" If it is not set: {words}."),
    };
    property["description"] = format!("{}{counts}{unset}", setting.meaning).into();
    property
}

#[cfg(test)]
mod tests {
    use elasticjob::config::JobSettings;

    use super::*;

    #[test]
    fn each_setting_that_is_read_is_described_with_its_type_and_no_other() {
        let schema = schema();
        let properties = schema["properties"].as_object().expect("properties");
        let settings = serde_json::to_value(JobSettings::default()).expect("they are JSON");
        let known: Vec<&String> = settings.as_object().expect("settings").keys().collect();
        let mut described: Vec<&String> = properties.keys().collect();
        described.sort();
        let mut read = known.clone();
        read.sort();
        assert_eq!(described, read);
        let example = |kind: &str| match kind {
            "string" => json!("x"),
            "boolean" => json!(true),
            "integer" => json!(1),
            "array" => json!(["x"]),
            _ => json!({ "x": "y" }),
        };
        for (key, property) in properties {
            let kind = property["type"][0].as_str().expect("a type");
            for value in [example(kind), Value::Null] {
                let settings = serde_json::from_value::<JobSettings>(json!({ key: value }));
                assert!(settings.is_ok(), "{key} is no {kind}: {settings:?}");
            }
            assert!(property["description"].as_str().is_some_and(|text| text.contains('.')), "{key}");
        }
    }
}
