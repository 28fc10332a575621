//! The command of a pod: the program that runs its items, and what that program is told.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::carrier::{CARRIED, Daemon, Launch, LaunchItem};

/// Runs the items of a pod.
const ITEM: &str = include_str!("item.sh");

/// The bytes for the failures of all items of a pod. Kubernetes keeps 4,096 of the text of a container, and the numbers need some.
const FAILURES: usize = 2_000;

/// The variable by which a pod of a launch is told how many pods of its index were replaced, as their places were lost; empty for none.
pub(super) const PLACES_LOST: &str = "ELASTICJOB_PLACES_LOST";

/// What a pod runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The command of the container.
    pub(super) command: Vec<String>,
    /// The environment that all items of the Job share.
    pub(super) environment: BTreeMap<String, String>,
    /// Whether it has to know [`PLACES_LOST`].
    pub(super) counts_lost_places: bool,
}

/// What the pods of a launch run: one for each of `pods`, with these items.
pub(super) fn of_launch(launch: &Launch, pods: &[&[LaunchItem]], package: Option<&str>) -> Run {
    let mut environments: Vec<Vec<Environment>> =
        pods.iter().map(|items| items.iter().map(|item| Environment::of(launch, item)).collect()).collect();
    let shared = Environment::shared(environments.iter().flatten());
    let texts = pods.iter().zip(&mut environments).map(|(items, environments)| {
        let calls = items.iter().zip(environments).map(|(item, own)| {
            own.without(&shared);
            call(item.item, own, launch.arguments(item.item))
        });
        calls.collect::<Vec<String>>().join("\n")
    });
    let most = pods.iter().map(|items| items.len()).max().unwrap_or(1);
    let room = if most > 1 { (FAILURES / most).to_string() } else { String::new() };
    let command = command(launch.command(), package, room, texts);
    Run { command, environment: shared.into_variables(), counts_lost_places: true }
}

/// What the pods of a `DAEMON` job run.
pub(super) fn of_daemon(daemon: &Daemon, package: Option<&str>) -> Run {
    let command_line = daemon.job.script().unwrap_or(&daemon.app.bootstrap_script);
    // Without items, as the program schedules by itself.
    let text = format!("item 0 {} --", quoted("\"items\":[]"));
    let command = command(command_line, package, String::new(), std::iter::once(text));
    let environment = daemon.environment().into_iter().map(|(name, value)| (name, literal(&value)));
    Run { command, environment: environment.collect(), counts_lost_places: false }
}

fn command(command: &str, package: Option<&str>, room: String, texts: impl Iterator<Item = String>) -> Vec<String> {
    let own = ["/bin/sh", "-c", ITEM, "elasticjob", command.trim(), package.unwrap_or_default()].map(str::to_owned);
    own.into_iter().chain([room]).chain(texts).map(|text| literal(&text)).collect()
}

/// The environment of an item: its variables, and the fields of the JSON in [`CARRIED`].
#[derive(Debug, Clone, PartialEq, Eq)]
struct Environment {
    variables: BTreeMap<String, String>,
    carried: Map<String, Value>,
}

impl Environment {
    fn of(launch: &Launch, item: &LaunchItem) -> Self {
        let mut variables = launch.environment(item);
        let carried = variables.remove(CARRIED).unwrap_or_default();
        let carried = serde_json::from_str(&carried).expect("it was written as a JSON object");
        Self { variables, carried }
    }

    /// What all of them have.
    fn shared<'a>(mut all: impl Iterator<Item = &'a Self>) -> Self {
        let mut shared = all.next().cloned().expect("a launch has an item");
        for other in all {
            shared.variables.retain(|name, value| other.variables.get(name) == Some(value));
            shared.carried.retain(|name, value| other.carried.get(name) == Some(value));
        }
        // The text that the pods begin with is completed by them: it must be there, and has the items in no case.
        shared.carried.remove("items");
        shared
    }

    fn without(&mut self, shared: &Self) {
        self.variables.retain(|name, _| !shared.variables.contains_key(name));
        self.carried.retain(|name, _| !shared.carried.contains_key(name));
    }

    fn into_variables(self) -> BTreeMap<String, String> {
        let mut variables = self.variables;
        variables.insert(CARRIED.to_owned(), Value::Object(self.carried).to_string());
        variables.into_iter().map(|(name, value)| (name, literal(&value))).collect()
    }
}

/// The call that runs an item.
fn call(item: u32, own: &Environment, arguments: Vec<String>) -> String {
    let fields: Vec<String> =
        own.carried.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str()))).collect();
    let variables = own.variables.iter().map(|(name, value)| quoted(&format!("{name}={value}")));
    let mut words = vec!["item".to_owned(), item.to_string(), quoted(&fields.join(","))];
    words.extend(variables);
    words.push("--".to_owned());
    words.extend(arguments.iter().map(|argument| quoted(argument)));
    words.join(" ")
}

/// A word of a shell that means exactly this text.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text in which Kubernetes replaces nothing: it takes `$(NAME)` for a variable.
fn literal(text: &str) -> String {
    text.replace("$", "$$")
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Arc;

    use elasticjob::fire::Fire;
    use serde_json::json;

    use super::*;
    use crate::carrier::LaunchId;
    use crate::model::{App, CarriedJob};

    fn launch(more: Value) -> Launch {
        let app = json!({ "appName": "a", "appURL": "oci://a:1", "bootstrapScript": "env" });
        let mut job = json!({
            "jobName": "a", "appName": "a", "jobExecutionType": "TRANSIENT", "cpuCount": 1, "memoryMB": 1,
            "shardingTotalCount": 3, "shardingItemParameters": "0=it's,1=$(HOME)"
        });
        if let (Value::Object(fields), Value::Object(more)) = (&mut job, more) {
            fields.extend(more);
        }
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(1) };
        let items = (0..3).map(|item| LaunchItem::new(item, Some(7))).collect();
        Launch::new(id, items, Arc::new(App::from_json(app).unwrap()), job)
    }

    /// Runs a pod as a container does, with the replacements of Kubernetes undone, and returns what its program wrote.
    fn play(run: &Run, index: usize) -> String {
        let plain = |text: &String| text.replace("$$", "$");
        let mut command = Command::new(&run.command[0]);
        command.args(run.command[1..].iter().map(plain)).env_clear().env("JOB_COMPLETION_INDEX", index.to_string());
        command.envs(run.environment.iter().map(|(name, value)| (name, plain(value)))).env("PATH", "/usr/bin:/bin");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn each_pod_runs_its_item_with_the_environment_that_the_item_has_by_itself() {
        let launch = launch(json!({}));
        let pods: Vec<&[LaunchItem]> = launch.items.chunks(1).collect();
        let run = of_launch(&launch, &pods, None);
        for (index, item) in launch.items.iter().enumerate() {
            let seen = play(&run, index);
            let mut seen: BTreeMap<String, String> = seen
                .lines()
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            let mut wanted = launch.environment(item);
            let carried = |all: &mut BTreeMap<String, String>| all.remove(CARRIED).unwrap().parse::<Value>().unwrap();
            assert_eq!(carried(&mut seen), carried(&mut wanted));
            for (name, value) in wanted {
                assert_eq!(seen.get(&name), Some(&value), "{name}");
            }
        }
    }

    #[test]
    fn a_pod_that_replaces_lost_ones_is_told_its_attempt_and_a_daemon_none() {
        let launch = launch(json!({ "props": { "script.command.line": "env #" } }));
        let told = |run: &Run, lost: Option<&str>| {
            let mut run = Run { environment: run.environment.clone(), command: run.command.clone(), ..*run };
            run.environment.extend(lost.map(|lost| (PLACES_LOST.to_owned(), lost.to_owned())));
            let seen = play(&run, 0);
            assert!(!seen.contains(PLACES_LOST), "{seen}");
            seen.lines().find_map(|line| line.strip_prefix("ELASTICJOB_ATTEMPT=")).map(str::to_owned)
        };
        let run = of_launch(&launch, &[&launch.items[..1]], None);
        assert!(run.counts_lost_places);
        assert_eq!(
            ["", "1", "12"].map(|lost| told(&run, Some(lost))),
            ["1", "2", "13"].map(|text| Some(text.to_owned()))
        );
        assert_eq!(told(&run, None), None);
    }

    #[test]
    fn what_differs_by_item_alone_is_written_for_each() {
        let launch = launch(json!({}));
        let pods: Vec<&[LaunchItem]> = launch.items.chunks(1).collect();
        let run = of_launch(&launch, &pods, None);
        let text = run.command.last().unwrap();
        assert!(text.starts_with("item 2 '\"items\":[2]' 'ELASTICJOB_SHARDING_ITEM=2'"), "{text}");
        assert!(!text.contains("FENCING_TOKEN") && !text.contains("JOB_NAME"), "{text}");
        let single = of_launch(&launch, &[&launch.items[1..2]], None);
        assert!(single.command.last().unwrap().starts_with("item 1 '\"items\":[1]' --"), "{single:?}");
    }

    #[test]
    fn a_script_gets_its_context_as_an_argument() {
        let launch = launch(json!({ "props": { "script.command.line": "printf '%s|' daily" } }));
        let pods: Vec<&[LaunchItem]> = launch.items.chunks(1).collect();
        let seen = play(&of_launch(&launch, &pods, None), 0);
        let context: Value =
            seen.strip_prefix("daily|").and_then(|rest| rest.strip_suffix('|')).unwrap().parse().unwrap();
        assert_eq!((&context["shardingItem"], &context["shardingParameter"]), (&json!(0), &json!("it's")));
    }

    #[test]
    fn items_that_share_a_pod_are_all_run() {
        let launch = launch(json!({ "props": { "script.command.line": "echo \"$ELASTICJOB_SHARDING_ITEM\" #" } }));
        let pods: Vec<&[LaunchItem]> = launch.items.chunks(2).collect();
        let run = of_launch(&launch, &pods, None);
        let sorted = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!((sorted(play(&run, 0)), sorted(play(&run, 1))), (vec!["0".into(), "1".into()], vec!["2".into()]));
        assert_eq!(run.command[6], "1000");
    }
}
