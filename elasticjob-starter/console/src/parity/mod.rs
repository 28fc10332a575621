//! The contents and buttons of a page as calls of the API and as commands: to be copied from the page.

mod table;
#[cfg(test)]
mod tests;

use chrono::{DateTime, SecondsFormat};
use elasticjob::operations::{shell_command, shell_operand, shell_option, shell_word};
use percent_encoding::percent_decode_str;

use crate::access::Identity;
use crate::pages::segment;
use crate::text::Text;

use table::{Call, Entry, TABLE};

/// The registry center that the settings of a program give no name.
const DEFAULT: &str = "default";

/// Where the paths of the console's own API begin.
const VERSIONED: &str = "/api/v1/";

/// What a page offers to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    /// What it does: the name of the button, or of the page itself.
    pub(crate) label: String,
    /// Lines for a shell.
    pub(crate) curl: Vec<String>,
    pub(crate) commands: Vec<String>,
}

/// What a page has in its query and a call or a command has as a value of its own.
const FROM_QUERY: [&str; 4] = ["job", "at", "cron", "zone"];

/// The names in a path and their values, decoded.
type Values<'a> = Vec<(&'a str, String)>;

/// The values of a path that fits a pattern; `None` where it does not fit.
fn values<'a>(pattern: &'a str, path: &str) -> Option<Values<'a>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut values = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(values),
            (Some(wanted), Some(given)) => match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                Some(name) if !given.is_empty() => {
                    values.push((name, percent_decode_str(given).decode_utf8().ok()?.into_owned()));
                }
                None if wanted == given => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// The path with the values in their places. A value that the page does not have is one that the reader fills in.
fn filled(template: &str, values: &Values<'_>) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => text.push_str(&segment(value)),
            None => text.push_str(&name.to_ascii_uppercase()),
        }
        text.push_str(rest);
    }
    text
}

/// A command for the jobs of this registry center: the command line takes the one without a name by itself.
pub(crate) fn of_registry(command: &str, registry: &str) -> String {
    match command.strip_prefix("elasticjob ") {
        Some(rest) if registry != DEFAULT && !rest.starts_with("next ") => {
            ["elasticjob", &shell_option("--registry", registry), rest].join(" ")
        }
        _ => command.to_owned(),
    }
}

/// What the page at this place offers to this reader; the place is a path with a query, below the base path.
pub(crate) fn of_page(text: &Text, identity: &Identity, place: &str) -> Vec<Copy> {
    let (path, query) = place.split_once('?').unwrap_or((place, ""));
    // `/r/default/jobs/x` also fits the pattern of a page below it: the one with the fewest names is meant.
    let shown = TABLE.iter().flat_map(|entry| entry.shown_on.iter()).filter(|page| values(page, path).is_some());
    let Some(page) = shown.min_by_key(|page| page.matches('{').count()) else { return Vec::new() };
    let mut values = values(page, path).unwrap_or_default();
    for name in FROM_QUERY {
        if let Some(value) = given(query, name).filter(|_| values.iter().all(|(known, _)| *known != name)) {
            values.push((name, value));
        }
    }
    let named = |wanted: &str| values.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
    let entries = TABLE.iter().filter(|entry| entry.shown_on.contains(page));
    let offered = entries
        .filter(|entry| entry.calls.iter().all(|call| identity.may(call.needs, named("registry"), named("job"))));
    offered.map(|entry| copy(text, entry, &values, query)).collect()
}

/// The parameter of a query with this name; `None` where it is empty.
fn given(query: &str, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, value)| key == name && !value.trim().is_empty()).map(|(_, value)| value.trim().to_owned())
}

fn copy(text: &Text, entry: &Entry, values: &Values<'_>, query: &str) -> Copy {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    Copy {
        label: (entry.label)(text),
        curl: entry.calls.iter().map(|call| curl(call, values, query)).collect(),
        commands: entry
            .commands
            .iter()
            .map(|command| {
                let line = shell_command(command, value);
                let is_list = entry.calls.iter().any(|call| call.takes_query);
                let line = if is_list { filtered(&line, command, query) } else { line };
                of_registry(&line, value("registry").as_deref().unwrap_or(DEFAULT))
            })
            .collect(),
    }
}

/// A command that lists records, with the filters of the page. A time without an offset is left out: the command line takes none.
fn filtered(line: &str, command: &str, query: &str) -> String {
    let mut words = command.split(' ').skip(1);
    let Some(name) = words.next() else { return line.to_owned() };
    let fields: &[(&str, &str)] = match name {
        "history" => &[("item", "--item"), ("source", "--source")],
        "states" => &[("state", "--state")],
        "decisions" => &[("item", "--item"), ("kind", "--kind")],
        "audit" => &[("item", "--item"), ("who", "--who"), ("what", "--what")],
        _ => return line.to_owned(),
    };
    let given = |name: &str| given(query, name);
    let mut options: Vec<String> =
        fields.iter().filter_map(|(field, option)| Some(shell_option(option, &given(field)?))).collect();
    let is_failed = name == "history" && given("result").as_deref() == Some("FAILED");
    options.extend(is_failed.then(|| "--failed".to_owned()));
    let instance = given("ip").filter(|id| name != "audit" && id.contains("@-@"));
    options.extend(instance.map(|id| shell_option("--instance", &id)));
    for (field, option) in [("from", "--from"), ("until", "--until")] {
        let at = given(field).and_then(|text| DateTime::parse_from_rfc3339(&text).ok());
        options.extend(at.map(|at| shell_option(option, &at.to_rfc3339_opts(SecondsFormat::AutoSi, true))));
    }
    // Those whose job is left out where it is not asked for.
    let job = given("job").filter(|_| words.next().is_none()).map(|job| shell_operand(&job));
    let begin = ["elasticjob", name].join(" ");
    let rest = line.strip_prefix(&begin).unwrap_or_default().trim_start();
    let parts = std::iter::once(begin).chain(options).chain((!rest.is_empty()).then(|| rest.to_owned())).chain(job);
    parts.collect::<Vec<_>>().join(" ")
}

fn curl(call: &Call, values: &Values<'_>, query: &str) -> String {
    let mut line = "curl -H \"Authorization: Bearer $TOKEN\"".to_owned();
    if call.method != "GET" {
        line.push_str(&format!(" -X {}", call.method));
    }
    for header in call.headers {
        line.push_str(&format!(" -H {}", shell_word(header)));
    }
    if let Some(body) = call.body {
        let body = filled_json(body, values);
        line.push_str(&format!(" -H 'Content-Type: application/json' -d {}", shell_word(&body)));
    }
    let path = filled(call.path, values);
    let query = if call.takes_query { query_again(query, call.knows) } else { String::new() };
    let query = if query.is_empty() { query } else { format!("{}{query}", if path.contains('?') { '&' } else { '?' }) };
    // The API of a scheduler is on the same port, and not below the path of the console.
    let origin = if call.path.starts_with(VERSIONED) { "$CONSOLE" } else { "$CLOUD" };
    line + &format!(" \"{origin}{path}{query}\"")
}

/// A body with the names that it has in upper case replaced by values of the path.
fn filled_json(body: &str, values: &Values<'_>) -> String {
    let known = values.iter().map(|(name, value)| (format!("\"{}\"", name.to_ascii_uppercase()), value));
    known.fold(body.to_owned(), |body, (name, value)| {
        body.replace(&name, &serde_json::Value::from(value.as_str()).to_string())
    })
}

/// The query with every character encoded that a shell might read: a visitor typed it.
fn query_again(query: &str, knows: fn(&str) -> bool) -> String {
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(name, value)| !value.is_empty() && knows(name));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
