//! The description of the API, as OpenAPI 3.1, made from the table of routes.

use axum::Json;
use serde_json::{Map, Value, json};

use super::fails::statuses;
use super::openapi_answers;
use super::routes::{Body, ROUTES, Route};

/// The route whose runs are linked to the trace of its caller.
const TRIGGERS: &str = "/api/job/trigger";

/// The document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "elasticjob cloud", "version": "1",
            "description": "Registers applications and jobs whose items run as processes of their own. The paths are those of \
                            ElasticJob-Cloud. A command answers true. An error has a status and a message, and for a body \
                            that cannot be used each field with its reason. An address that is not there is 404, and a wrong method 405, in the same form.",
        },
        "paths": paths,
        "components": { "schemas": schemas(), "securitySchemes": {
            "accessToken": { "type": "apiKey", "in": "header", "name": "accessToken",
                             "description": "What /api/login answers, or the token of a program" },
        } },
        "security": [{ "accessToken": [] }],
    })
}

pub(super) async fn show() -> Json<Value> {
    Json(document())
}

fn operation(route: &Route) -> Value {
    let in_path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "required": place == "path", "schema": { "type": "string" } });
    let parameters: Vec<Value> = in_path
        .map(|name| parameter(name, "path"))
        .chain(route.parameters.iter().map(|name| parameter(name, "query")))
        .chain((route.path == TRIGGERS).then(|| parameter("traceparent", "header")))
        .collect();
    let role = route.role.map_or_else(|| "public".to_owned(), |role| role.to_string());
    let (media_type, schema) = route.answer.content();
    let mut done = json!({ "description": "Done", "content": { media_type: { "schema": schema } } });
    if let Some(headers) = route.answer.headers() {
        done["headers"] = headers;
    }
    let mut responses = Map::from_iter([("200".to_owned(), done)]);
    let refusal = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } } });
    responses.extend(
        statuses(route.fails, route.role.is_some())
            .into_iter()
            .map(|(status, causes)| (status.to_string(), json!({ "description": causes, "content": refusal }))),
    );
    let mut operation =
        json!({ "summary": route.summary, "parameters": parameters, "responses": responses, "x-permission": role });
    if let Some(schema) = body(route.body) {
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    if route.role.is_none() {
        operation["security"] = json!([]);
    }
    operation
}

fn body(body: Body) -> Option<Value> {
    let named = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    match body {
        Body::None => None,
        Body::Login => Some(named("Login")),
        Body::App => Some(named("App")),
        Body::AppChange => Some(named("AppChange")),
        Body::Job => Some(named("Job")),
        Body::JobChange => Some(named("JobChange")),
        Body::Name => Some(json!({ "type": "string", "description": "the name of a job and nothing else" })),
    }
}

fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let flag = |unset: bool| json!({ "type": "boolean", "default": unset });
    let amount = |least: f64| json!({ "type": "number", "minimum": least });
    let count = |least: u32| json!({ "type": "integer", "minimum": least });
    let dependency = json!({ "type": "object", "required": ["job"], "properties": {
        "job": text(), "when": { "type": "string", "enum": ["succeeded", "failed", "ended"], "default": "succeeded" },
        "items": { "type": "string", "enum": ["all", "same"], "default": "all" },
    } });
    let dependencies = json!({
        "description": "The jobs that it runs after, in place of `cron`: `JOB`, `JOB when failed`, `JOB when ended items same`. \
                        Answers have a list of such texts.",
        "oneOf": [text(), { "type": "array", "items": { "oneOf": [text(), dependency] } }],
    });
    let code = json!({ "type": "string", "description": "What programs tell it by: it never changes. A text from outside has none." });
    let mut all = openapi_answers::schemas();
    let of_bodies = json!({
        "Login": { "type": "object", "required": ["username", "password"],
                   "properties": { "username": text(), "password": text() } },
        "Refusal": { "type": "object", "required": ["message"], "properties": {
            "message": text(), "code": code,
            "problems": { "type": "array", "items": { "type": "object", "required": ["field", "reason"], "properties": {
                "field": text(), "reason": text(), "code": code,
            } } },
        } },
        "App": { "type": "object", "required": ["appName", "appURL", "bootstrapScript"], "properties": {
            "appName": text(), "appURL": text(), "bootstrapScript": text(), "cpuCount": amount(0.0), "memoryMB": amount(0.0),
            "appCacheEnable": flag(true), "eventTraceSamplingCount": count(0), "image": text(), "env": texts(),
            "slurm": { "type": "object", "properties": {
                "partition": text(), "account": text(), "qos": text(), "constraint": text(), "timeLimitMinutes": count(1),
            } },
        } },
        "Job": {
            "type": "object",
            "required": ["jobName", "appName", "jobExecutionType", "cpuCount", "memoryMB", "shardingTotalCount"],
            "properties": {
                "jobName": text(), "appName": text(),
                "jobExecutionType": { "type": "string", "enum": ["TRANSIENT", "DAEMON"] },
                "cpuCount": amount(0.001), "memoryMB": amount(1.0), "cron": text(), "timeZone": text(), "dependsOn": dependencies,
                "shardingTotalCount": count(1), "shardingItemParameters": text(), "jobParameter": text(),
                "failover": flag(false), "misfire": flag(false), "jobErrorHandlerType": text(), "description": text(),
                "props": texts(), "disabled": flag(false), "instances": count(0), "itemsPerProcess": count(1),
                "gracePeriodSeconds": count(0), "queueName": text(), "env": texts(),
            },
        },
    });
    for (name, schema) in of_bodies.as_object().into_iter().flatten() {
        all[name] = schema.clone();
    }
    all["AppChange"] = change_of(&of_bodies["App"], "appName");
    all["JobChange"] = change_of(&of_bodies["Job"], "jobName");
    all
}

/// The schema of a change of what `whole` describes. A field that is not given stays as it is, so none has a default. `null`
/// takes a field back to its default: one that a registration has to give cannot be taken back.
fn change_of(whole: &Value, name: &str) -> Value {
    let mut change = whole.clone();
    change["description"] = json!("The fields that change; the others stay. null takes a field back to its default.");
    change["required"] = json!([name]);
    let required: Vec<&str> = whole["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = change["properties"].as_object_mut().into_iter().flatten();
    for (_, schema) in fields.filter(|(field, _)| !required.contains(&field.as_str())) {
        let Some(schema) = schema.as_object_mut() else { continue };
        schema.remove("default");
        if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
            choices.push(json!({ "type": "null" }));
        }
        if let Some(of) = schema.get_mut("type") {
            *of = json!([of.take(), "null"]);
        }
    }
    change
}
