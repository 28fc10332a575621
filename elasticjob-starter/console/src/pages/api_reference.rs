//! The reference of the API: the document of `/api/v1/openapi.json` as a page. Its texts are English in each language.

mod shape;

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};

use self::shape::{Part, Shape};
use super::{Layout, page};
use crate::api;
use crate::app::App;
use crate::here::Who;
use crate::router::declared;
use crate::text::t;

#[derive(Template)]
#[template(path = "api_reference.html")]
struct ApiReferencePage {
    layout: Layout,
    /// The routes, by what they are about.
    groups: BTreeMap<String, Vec<Route>>,
    bodies: Vec<Body>,
}

/// A route.
struct Route {
    id: String,
    method: String,
    path: String,
    summary: String,
    about: String,
    permission: String,
    parameters: Vec<Field>,
    body: Option<Shape>,
    answers: Vec<Answer>,
}

/// A parameter of a route, or a field of a body.
struct Field {
    name: String,
    /// `path`, `query` or `header`; empty for a field of a body.
    place: String,
    is_required: bool,
    shape: Shape,
    about: String,
}

/// What a route answers with a status: a body, or a problem with one of some codes.
struct Answer {
    status: String,
    shape: Option<Shape>,
    codes: Vec<String>,
}

/// The body of a request or of an answer.
struct Body {
    name: String,
    about: String,
    fields: Vec<Field>,
    /// What it is, where it has no fields of its own.
    shape: Shape,
}

impl Route {
    fn of(path: &str, method: &str, route: &Value) -> Self {
        let answers = members(&route["responses"]).map(|(status, answer)| Answer::of(status, answer));
        Self {
            id: text(&route["operationId"]),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: text(&route["summary"]),
            about: text(&route["description"]),
            permission: text(&route["x-permission"]),
            parameters: route["parameters"].as_array().into_iter().flatten().map(Field::of_parameter).collect(),
            body: content(&route["requestBody"]),
            answers: answers.collect(),
        }
    }
}

impl Field {
    fn of_parameter(parameter: &Value) -> Self {
        Self {
            name: text(&parameter["name"]),
            place: text(&parameter["in"]),
            is_required: parameter["required"] == true,
            shape: Shape::of(&parameter["schema"]),
            about: text(&parameter["description"]),
        }
    }

    fn all_of(schema: &Value) -> Vec<Self> {
        let is_required =
            |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
        let field = |(name, schema): (&String, &Value)| Self {
            name: name.clone(),
            place: String::new(),
            is_required: is_required(name),
            shape: Shape::of(schema),
            about: text(&schema["description"]),
        };
        members(&schema["properties"]).map(field).collect()
    }
}

impl Answer {
    fn of(status: &str, answer: &Value) -> Self {
        let is_problem = answer["content"].get("application/problem+json").is_some();
        let codes = text(&answer["description"]);
        Self {
            status: status.to_owned(),
            shape: content(answer).filter(|_| !is_problem),
            codes: codes.split(", ").filter(|code| is_problem && !code.is_empty()).map(str::to_owned).collect(),
        }
    }
}

impl Body {
    fn of(name: &str, schema: &Value) -> Self {
        let (fields, shape) = (Field::all_of(schema), Shape::of(schema));
        Self { name: name.to_owned(), about: text(&schema["description"]), fields, shape }
    }
}

/// The shape of the first content that a request or an answer may have.
fn content(of: &Value) -> Option<Shape> {
    members(&of["content"]).next().map(|(_, content)| Shape::of(&content["schema"]))
}

fn members(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flat_map(Map::iter)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl ApiReferencePage {
    fn of(layout: Layout, document: &Value) -> Self {
        let mut groups: BTreeMap<String, Vec<Route>> = BTreeMap::new();
        for (path, methods) in members(&document["paths"]) {
            for (method, route) in members(methods) {
                groups.entry(text(&route["tags"][0])).or_default().push(Route::of(path, method, route));
            }
        }
        let bodies = members(&document["components"]["schemas"]).map(|(name, schema)| Body::of(name, schema)).collect();
        Self { layout, groups, bodies }
    }
}

pub(crate) async fn show(State(app): State<App>, who: Who) -> Response {
    page(&ApiReferencePage::of(Layout::of_console(&who), &api::document(&declared(app))))
}

#[cfg(test)]
mod tests {
    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::testing::{call, console_of, cookie_of, request};

    #[tokio::test]
    async fn each_route_and_each_body_of_the_document_is_on_the_page_and_no_link_leads_nowhere() {
        let console = console_of(&MemoryRegistry::new());
        let viewer = cookie_of(&console, "viewer").await;
        let page = call(&console, request("GET", "/help/api", Some(&viewer))).await;
        assert_eq!(page.status, 200);
        let document = api::document(&declared(console.app().clone()));
        let (mut routes, mut bodies) = (0, 0);
        for (path, methods) in members(&document["paths"]) {
            for (method, route) in members(methods) {
                let route = Route::of(path, method, route);
                assert!(page.body.contains(&format!("id=\"{}\"", route.id)), "{path}");
                assert!(page.body.contains(&format!("{} {path}", route.method)), "{path}");
                assert!(
                    !route.summary.is_empty() && !route.permission.is_empty() && !route.answers.is_empty(),
                    "{path}"
                );
                routes += 1;
            }
        }
        for (name, _) in members(&document["components"]["schemas"]) {
            assert!(page.body.contains(&format!("id=\"body-{name}\"")), "{name}");
            bodies += 1;
        }
        assert!(routes > 50 && bodies > 50, "{routes} routes and {bodies} bodies");
        let problems = call(&console, request("GET", "/help/problems", Some(&viewer))).await.body;
        for link in page.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let Some((path, anchor)) = link.split_once('#') else { continue };
            let of = if path.is_empty() { &page.body } else { &problems };
            assert!(of.contains(&format!("id=\"{anchor}\"")), "{link}");
        }
    }
}
