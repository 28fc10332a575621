//! The words for what a value may be: `string (date-time)`, `array of ItemView`, `ItemView or null`.

use serde_json::Value;

/// The words for what a value may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) parts: Vec<Part>,
}

/// A part of the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Words.
    Words(String),
    /// The name of a body, which the page describes.
    Body(String),
}

impl Shape {
    /// The words for a schema of OpenAPI 3.1.
    pub(super) fn of(schema: &Value) -> Self {
        let mut shape = Self { parts: Vec::new() };
        shape.add(schema);
        shape
    }

    fn add(&mut self, schema: &Value) {
        if let Some(name) = schema["$ref"].as_str() {
            return self.parts.push(Part::Body(name.rsplit('/').next().unwrap_or(name).to_owned()));
        }
        for (several, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " with ")] {
            if let Some(schemas) = schema[several].as_array() {
                return self.join(schemas, word);
            }
        }
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<String> =
                values.iter().map(|value| format!("`{}`", value.to_string().trim_matches('"'))).collect();
            return self.say(&values.join(", "));
        }
        match &schema["type"] {
            Value::String(kind) => self.add_kind(kind, schema),
            Value::Array(kinds) => {
                for (at, kind) in kinds.iter().filter_map(Value::as_str).enumerate() {
                    if at > 0 {
                        self.say(" or ");
                    }
                    self.add_kind(kind, schema);
                }
            }
            _ => self.say("any value"),
        }
    }

    fn add_kind(&mut self, kind: &str, schema: &Value) {
        match kind {
            "array" => {
                self.say("array of ");
                self.add(&schema["items"]);
            }
            "object" if schema["additionalProperties"].is_object() => {
                self.say("object with values of ");
                self.add(&schema["additionalProperties"]);
            }
            "string" | "integer" | "number" => {
                let format = schema["format"].as_str().map(str::to_owned);
                let least = schema["minimum"].as_i64().map(|least| format!("from {least}"));
                let shortest =
                    schema["minLength"].as_i64().filter(|_| kind == "string").map(|_| "not empty".to_owned());
                let longest = schema["maxLength"].as_i64().filter(|_| kind == "string");
                let longest = longest.map(|longest| format!("at most {longest} characters"));
                let limits: Vec<String> = [format, least, shortest, longest].into_iter().flatten().collect();
                match limits.is_empty() {
                    true => self.say(kind),
                    false => self.say(&format!("{kind} ({})", limits.join(", "))),
                }
            }
            kind => self.say(kind),
        }
    }

    fn join(&mut self, schemas: &[Value], word: &str) {
        for (at, schema) in schemas.iter().enumerate() {
            if at > 0 {
                self.say(word);
            }
            self.add(schema);
        }
    }

    fn say(&mut self, words: &str) {
        match self.parts.last_mut() {
            Some(Part::Words(before)) => before.push_str(words),
            _ => self.parts.push(Part::Words(words.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_said_in_words_with_the_names_of_bodies() {
        let said = |schema: Value| {
            let part = |part: Part| match part {
                Part::Words(words) => words,
                Part::Body(name) => format!("[{name}]"),
            };
            Shape::of(&schema).parts.into_iter().map(part).collect::<String>()
        };
        for (schema, expected) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": "string", "format": "date-time" }), "string (date-time)"),
            (json!({ "type": ["string", "null"], "minLength": 1 }), "string (not empty) or null"),
            (json!({ "type": "string", "maxLength": 9 }), "string (at most 9 characters)"),
            (json!({ "type": "integer", "minimum": 0, "format": "int32" }), "integer (int32, from 0)"),
            (json!({ "type": "array", "items": { "$ref": "#/components/schemas/Item" } }), "array of [Item]"),
            (json!({ "oneOf": [{ "$ref": "#/components/schemas/Item" }, { "type": "null" }] }), "[Item] or null"),
            (json!({ "type": "object", "additionalProperties": { "type": "string" } }), "object with values of string"),
            (json!({ "type": "string", "enum": ["on", "off"] }), "`on`, `off`"),
            (json!({ "type": "object", "properties": { "a": {} } }), "object"),
            (json!({}), "any value"),
        ] {
            assert_eq!(said(schema.clone()), expected, "{schema}");
        }
    }
}
