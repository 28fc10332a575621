//! `elasticjob graph`: which job runs after which, as a tree, as JSON, or for Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use elasticjob::config::DependencyItems;
use elasticjob::ident::JobName;
use elasticjob::operations::{GraphEdge, GraphJob, JobGraph, Operations};
use elasticjob::schedule::{TimeZone, format_rfc3339};

use crate::failure::Failure;
use crate::table::json;

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Tree,
    Json,
    Dot,
}

/// The graph, of one job what it is connected with.
pub(crate) async fn graph(operations: &Operations, job: Option<&JobName>, form: Form) -> Result<String, Failure> {
    let graph = operations.graph(job).await?;
    Ok(match form {
        Form::Json => json(&graph),
        Form::Dot => dot(&graph),
        Form::Tree => tree(&graph.jobs, &graph.cycles),
    })
}

/// How the jobs stand for the fire of a time, in milliseconds since 1970: as JSON or as a tree.
pub(crate) async fn run(
    operations: &Operations,
    job: Option<&JobName>,
    at: i64,
    as_json: bool,
) -> Result<String, Failure> {
    let runs = operations.graph_runs(job, Some(at), |_| true).await?;
    if as_json {
        return Ok(json(&runs));
    }
    let (mut jobs, mut cycles) = (Vec::new(), Vec::new());
    for run in runs {
        jobs.extend(run.jobs.into_iter().map(|mut one| {
            one.job.latest = one.fire;
            one.job
        }));
        cycles.extend(run.cycles);
    }
    Ok(tree(&jobs, &cycles))
}

fn tree(jobs: &[GraphJob], cycles: &[Vec<JobName>]) -> String {
    if jobs.is_empty() {
        return "no job runs after another one\n".to_owned();
    }
    let mut tree =
        Tree { jobs: BTreeMap::new(), children: BTreeMap::new(), told: BTreeSet::new(), text: String::new() };
    for job in jobs {
        tree.jobs.insert(&job.job, job);
        for edge in &job.depends_on {
            tree.children.entry(&edge.job).or_default().push((&job.job, words(edge)));
        }
    }
    for job in jobs.iter().filter(|job| job.depends_on.is_empty()) {
        tree.add(&job.job, "", "", None);
    }
    // What is left stands in a cycle, or after one.
    for job in jobs {
        if !tree.told.contains(&job.job) {
            tree.add(&job.job, "", "", None);
        }
    }
    for cycle in cycles {
        let names: Vec<&str> = cycle.iter().map(JobName::as_str).collect();
        let _ = writeln!(tree.text, "these jobs wait for each other for ever: {}", names.join(" -> "));
    }
    tree.text
}

struct Tree<'a> {
    jobs: BTreeMap<&'a JobName, &'a GraphJob>,
    /// The jobs after each job, with the end that they wait for.
    children: BTreeMap<&'a JobName, Vec<(&'a JobName, String)>>,
    told: BTreeSet<&'a JobName>,
    text: String,
}

impl<'a> Tree<'a> {
    /// Adds a job and the jobs after it; those below a job that came before are not repeated.
    fn add(&mut self, job: &'a JobName, branch: &str, indent: &str, after: Option<&str>) {
        let is_first = self.told.insert(job);
        let children = self.children.get(job).cloned().unwrap_or_default();
        let _ = write!(self.text, "{branch}{job}");
        if let Some(words) = after {
            let _ = write!(self.text, "  when {words}");
        }
        if let Some(known) = self.jobs.get(job).filter(|_| is_first) {
            self.text.push_str(&facts(known));
        }
        if !is_first && !children.is_empty() {
            self.text.push_str("  (see above)");
        }
        self.text.push('\n');
        let count = children.len();
        for (number, (child, words)) in children.into_iter().enumerate().filter(|_| is_first) {
            let (sign, below) = if number + 1 == count { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.add(child, &format!("{indent}{sign}"), &format!("{indent}{below}"), Some(&words));
        }
    }
}

/// The end that a job waits for, and of which items where these are not all.
fn words(edge: &GraphEdge) -> String {
    match edge.items {
        DependencyItems::Same => format!("{}, item by item", edge.when),
        _ => edge.when.to_string(),
    }
}

fn facts(job: &GraphJob) -> String {
    let mut text = String::new();
    if let Some(cron) = &job.cron {
        let _ = write!(text, "  [{cron}]");
    }
    if !job.exists {
        text.push_str("  (it does not exist yet)");
    } else if job.cron.is_none() && job.depends_on.is_empty() {
        text.push_str("  (it has no schedule: only a scheduled fire is followed)");
    }
    if let Some(latest) = &job.latest {
        let at = format_rfc3339(latest.at, TimeZone::UTC);
        let again = if latest.rerun.is_some() { " re-run" } else { "" };
        let _ = write!(text, "  {at}{again} {}", latest.state.as_str());
        if !latest.why.is_empty() {
            let _ = write!(text, " ({})", latest.why);
        }
    }
    text
}

fn dot(graph: &JobGraph) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = "digraph jobs {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for job in &graph.jobs {
        let style = if job.exists { "" } else { " [style=dashed]" };
        let _ = writeln!(text, "  {}{style};", quoted(job.job.as_str()));
        for edge in &job.depends_on {
            let label = quoted(&words(edge));
            let _ = writeln!(text, "  {} -> {} [label={label}];", quoted(edge.job.as_str()), quoted(job.job.as_str()));
        }
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
    use elasticjob::schedule::Schedule;

    use super::*;

    /// A registry center with jobs of these settings, each after some others.
    async fn with(jobs: &[(&str, &str)]) -> Operations {
        let registry = Arc::new(MemoryRegistry::new().connect());
        for (job, after) in jobs {
            let when = match *after {
                "" => "cron: 0 0 3 * * ?\n".to_owned(),
                after => format!("monitorExecution: true\nprops:\n  elasticjob.depends-on: {after}\n"),
            };
            let mut nodes = Transaction::new();
            nodes.create(format!("/{job}"), "", CreateMode::Persistent);
            let config = format!("{when}shardingTotalCount: 1\n");
            nodes.create(format!("/{job}/config"), config.as_str(), CreateMode::Persistent);
            registry.commit(nodes).await.unwrap();
        }
        Operations::new(registry)
    }

    async fn told(jobs: &[(&str, &str)], form: Form) -> String {
        graph(&with(jobs).await, None, form).await.unwrap()
    }

    #[tokio::test]
    async fn items_that_follow_items_are_told() {
        let jobs = [("extract", ""), ("load", "extract when ended items same")];
        assert!(told(&jobs, Form::Tree).await.ends_with("└─ load  when ended, item by item\n"));
        assert!(told(&jobs, Form::Dot).await.contains("[label=\"ended, item by item\"]"));
        assert!(told(&jobs, Form::Json).await.contains("\"items\":\"same\""));
    }

    const JOBS: [(&str, &str); 4] = [
        ("extract", ""),
        ("load", "extract"),
        ("tell", "load when failed"),
        ("tidy", "extract when ended,load when ended"),
    ];

    #[tokio::test]
    async fn a_tree_has_each_job_below_those_that_it_runs_after_and_its_facts_once() {
        let tree = "extract  [0 0 3 * * ?]\n\
                    ├─ load  when succeeded\n\
                    │  ├─ tell  when failed\n\
                    │  └─ tidy  when ended\n\
                    └─ tidy  when ended\n";
        assert_eq!(told(&JOBS, Form::Tree).await, tree);
        assert_eq!(told(&[("extract", "")], Form::Tree).await, "no job runs after another one\n");
    }

    #[tokio::test]
    async fn a_cycle_and_a_job_that_does_not_exist_are_told() {
        let tree = told(&[("a", "b"), ("b", "a"), ("c", "gone")], Form::Tree).await;
        assert!(tree.contains("these jobs wait for each other for ever: a -> b -> a\n"), "{tree}");
        assert!(tree.contains("gone  (it does not exist yet)\n└─ c  when succeeded\n"), "{tree}");
    }

    #[tokio::test]
    async fn a_time_shows_how_each_job_stands_for_its_fire() {
        let operations = with(&JOBS).await;
        // Three o'clock of a day that is to come.
        let at = Schedule::parse("0 0 3 * * ?", None).unwrap().next_after(4_000_000_000_000).unwrap();
        let tree = run(&operations, None, at, false).await.unwrap();
        assert_eq!(tree.matches("NOT_BEGUN").count(), 4, "each job once: {tree}");
        let tree = run(&operations, Some(&JobName::new("load").unwrap()), at + 1, false).await.unwrap();
        assert!(tree.starts_with("extract  [0 0 3 * * ?]  2096") && tree.contains("NO_FIRE"), "{tree}");
        let data = run(&operations, None, at, true).await.unwrap();
        assert!(data.contains(&format!("\"at\":{at}")) && data.contains("\"itemsEnded\":0"), "{data}");
    }

    #[tokio::test]
    async fn graphviz_gets_the_edges_from_job_to_job() {
        let dot = told(&JOBS, Form::Dot).await;
        assert!(
            dot.starts_with("digraph jobs {\n") && dot.contains("  \"load\" -> \"tell\" [label=\"failed\"];\n"),
            "{dot}"
        );
        assert!(told(&JOBS, Form::Json).await.contains("\"dependsOn\""));
    }
}
