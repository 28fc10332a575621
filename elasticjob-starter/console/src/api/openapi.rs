//! The description of the API, as OpenAPI 3.1.

mod problems;
mod security;
mod settings;

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use self::problems::problems_of;
pub(super) use self::settings::reference as settings_of_job;
use super::{
    access, accounts, actions, alarms, configuration, configurations, fires, graph, history, jobs, nodes, overview,
    past, registries, run_log, schedule, schedules, servers, timeline,
};
use crate::access::{COOKIE, LONGEST_REASON, Permission};
use crate::app::App;
use crate::router::{Declared, declared};
use crate::{live, live_log};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "elasticjob console",
        version = "1",
        description = "Looks at the jobs of registry centers, and operates \
        them. Errors are application/problem+json with a code that never changes. A change needs the role that its path \
        is for, and, on a console with require-reason, a reason where x-reason says so; see the page about the console in the documentation."
    ),
    paths(
        registries::list,
        registries::one,
        registries::me,
        registries::check,
        registries::data_sources,
        registries::check_traces,
        live::events,
        live_log::events,
        run_log::log,
        overview::show,
        jobs::list,
        jobs::one,
        jobs::items,
        jobs::item,
        jobs::why,
        actions::trigger,
        actions::trigger_on_server,
        actions::trigger_server,
        actions::rerun,
        actions::cancel_job,
        actions::cancel_item,
        actions::switch_job,
        actions::switch_item,
        actions::switch_server,
        actions::switch_server_of_job,
        actions::shut_down_job,
        actions::shut_down_server,
        actions::shut_down_server_of_job,
        actions::remove_job,
        actions::remove_server,
        actions::remove_server_of_job,
        actions::bulk,
        configuration::get,
        configuration::put,
        configuration::patch,
        configuration::history,
        configuration::version,
        configuration::restore,
        configurations::export,
        configurations::compare,
        servers::list,
        servers::one,
        servers::instances,
        servers::instances_of_job,
        history::executions,
        history::execution,
        history::states,
        history::decisions,
        history::audit,
        access::show,
        accounts::users,
        accounts::add_user,
        accounts::change_user,
        accounts::remove_user,
        accounts::set_password,
        accounts::set_own_password,
        accounts::tokens,
        accounts::add_token,
        accounts::remove_token,
        accounts::sessions,
        accounts::end_session,
        past::show,
        schedule::show,
        fires::fires,
        fires::fire,
        timeline::show,
        graph::show,
        graph::of_job,
        alarms::list,
        alarms::acknowledge,
        nodes::show,
        nodes::dump,
        schedules::preview,
    )
)]
struct Api;

/// The document: what the handlers declare, with the permission and the problems of each route.
pub(crate) fn document(routes: &[Declared]) -> Value {
    let mut document = serde_json::to_value(Api::openapi()).unwrap_or_default();
    document["components"]["securitySchemes"] = security::schemes();
    document["components"]["schemas"][settings::NAME] = settings::schema();
    limit_reasons(&mut document);
    for route in routes {
        let operation =
            document["paths"].get_mut(route.path).and_then(|path| path.get_mut(route.method.to_lowercase()));
        let Some(operation) = operation.and_then(Value::as_object_mut) else { continue };
        operation.insert("x-permission".to_owned(), permission(route).into());
        if let Some(rule) = route.reason.described() {
            operation.insert("x-reason".to_owned(), rule.into());
        }
        // Handlers of several modules have the same name.
        operation.insert("operationId".to_owned(), operation_id(route).into());
        operation.insert("security".to_owned(), security::of(route.permission));
        add_path_parameters(operation, route.path);
        let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else { continue };
        responses.remove("default");
        let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
        problems_of(route)
            .into_iter()
            .for_each(|(status, code)| by_status.entry(status).or_default().push(code.as_str()));
        for (status, codes) in by_status {
            let schema = json!({ "$ref": "#/components/schemas/Problem" });
            let problem = json!({ "description": codes.join(", "), "content": { "application/problem+json": { "schema": schema } } });
            responses.insert(status.to_string(), problem);
        }
    }
    document
}

/// The description of each reason that a request has.
const OF_REASONS: &str = "For the decision log.";

/// Says how long a reason may be. The attributes of a field take no constant.
fn limit_reasons(part: &mut Value) {
    match part {
        Value::Array(parts) => parts.iter_mut().for_each(limit_reasons),
        Value::Object(members) => {
            if members.get("description").is_some_and(|it| it == OF_REASONS) {
                let of_parameter = members.get_mut("schema").and_then(Value::as_object_mut);
                let longest = ("maxLength".to_owned(), LONGEST_REASON.into());
                match of_parameter {
                    Some(schema) => schema.extend([longest]),
                    None => members.extend([longest]),
                }
            }
            members.values_mut().for_each(limit_reasons);
        }
        _ => {}
    }
}

/// A name that no other operation has: its method with the words of its path.
fn operation_id(route: &Declared) -> String {
    let path = route.path.trim_start_matches("/api/v1/");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    [route.method.to_lowercase().as_str()].into_iter().chain(words).collect::<Vec<_>>().join("_")
}

/// The parts of the path that a caller fills in.
fn add_path_parameters(operation: &mut Map<String, Value>, path: &str) {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let is_number = |name: &str| name == "item";
    let parameter = |name: &str| {
        let schema =
            if is_number(name) { json!({ "type": "integer", "minimum": 0 }) } else { json!({ "type": "string" }) };
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    };
    let known = operation.entry("parameters").or_insert_with(|| json!([]));
    let Some(known) = known.as_array_mut() else { return };
    for name in names {
        if !known.iter().any(|it| it["in"] == "path" && it["name"] == name) {
            known.push(parameter(name));
        }
    }
}

fn permission(route: &Declared) -> String {
    match route.permission {
        Permission::Public => "public".to_owned(),
        Permission::Known => "known".to_owned(),
        Permission::KnownOrNear => "known, or a program of this host".to_owned(),
        Permission::Has(role) => role.to_string(),
        Permission::HasForSome(role) if route.path.contains("{alarm}") => {
            format!("{role} of the job of the alarm, or of all jobs where it is about the registry center")
        }
        Permission::HasForSome(role) => format!("{role} of each job in the body"),
    }
}

pub(crate) async fn show(State(app): State<App>) -> Json<Value> {
    let session = app.cookies.named(COOKIE);
    let mut document = document(&declared(app));
    document["components"]["securitySchemes"]["session"]["name"] = session.into();
    Json(document)
}
