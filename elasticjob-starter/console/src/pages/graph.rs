//! The graph of dependencies, with each job's state for a fire: of all jobs that run after others, and of one job.

use std::sync::Arc;

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use elasticjob::config::{DependencyItems, When};
use elasticjob::ident::JobName;
use elasticjob::operations::{GraphEdge, GraphFire, GraphRun, GraphState, SkippedItems};
use i18n_embed_fl::fl;

use super::chart::Px;
use super::chart::layers::{self, Layers};
use super::job::{Head, named};
use super::query::Query;
use super::time::{Clock, duration};
use super::{Layout, error, page, segment};
use crate::access::Role;
use crate::here::Here;
use crate::service::fires::FireId;
use crate::service::graph::{GraphQuery, runs};
use crate::text::{Text, t};

/// The most jobs of a picture. Those of a larger group are in the table alone.
const MOST_DRAWN: usize = 200;

/// The most groups of a page.
const MOST_GROUPS: usize = 50;

/// How many characters of a name fit into its box.
const NAME: usize = 25;

#[derive(Template)]
#[template(path = "graph.html")]
struct GraphPage {
    layout: Layout,
    clock: Clock,
    groups: Vec<Group>,
    /// How many groups there are with those that are left out.
    total: usize,
}

#[derive(Template)]
#[template(path = "job_graph.html")]
struct JobGraphPage {
    layout: Layout,
    head: Head,
    clock: Clock,
    groups: Vec<Group>,
}

/// Jobs that are connected.
struct Group {
    at: Option<i64>,
    /// Whether the reader chose the fire, and did not take the latest one.
    is_chosen: bool,
    /// The page of this group alone, for the links to other fires.
    path: String,
    fires: Vec<i64>,
    /// By name.
    jobs: Vec<Job>,
    picture: Option<Arc<Layers>>,
    /// The words of the lines of the picture.
    words: Vec<String>,
    cycles: Vec<String>,
    legend: Vec<State>,
}

/// How a job stands, as pages show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Succeeded,
    Failed,
    Running,
    Due,
    Skipped,
    NotBegun,
    Past,
    NoFire,
    /// It does not exist, or the reader may not see it, or no job of its group has had a fire.
    Unseen,
}

/// A job of the picture and of the table.
struct Job {
    name: JobName,
    short: String,
    link: Option<String>,
    /// The page of its fire, where it has run.
    fire_link: Option<String>,
    cron: Option<String>,
    /// The jobs that it runs after, in words.
    after: Vec<String>,
    state: State,
    /// Of a job that nothing is shown of.
    missing: Option<String>,
    fire: Option<GraphFire>,
    took: Option<u64>,
    why: String,
    /// Where a form sends that runs the fire again; `None` where there is none, or the reader may not.
    rerun: Option<String>,
}

impl State {
    fn of(fire: Option<&GraphFire>) -> Self {
        match fire.map(|fire| fire.state) {
            Some(GraphState::NotBegun) => Self::NotBegun,
            Some(GraphState::Due) => Self::Due,
            Some(GraphState::Running) => Self::Running,
            Some(GraphState::Succeeded) => Self::Succeeded,
            Some(GraphState::Failed) => Self::Failed,
            Some(GraphState::Skipped) => Self::Skipped,
            Some(GraphState::Past) => Self::Past,
            Some(GraphState::NoFire) => Self::NoFire,
            _ => Self::Unseen,
        }
    }

    /// The class of the style sheet.
    fn class(self) -> &'static str {
        match self {
            Self::Succeeded => "ok",
            Self::Failed => "bad",
            Self::Running => "run",
            Self::Due => "wait",
            Self::Skipped => "off",
            Self::NotBegun | Self::Past | Self::NoFire | Self::Unseen => "unknown",
        }
    }

    /// The character that the style sheet has before the word.
    fn character(self) -> &'static str {
        match self {
            Self::Succeeded => "●",
            Self::Failed => "✖",
            Self::Running => "▶",
            Self::Due => "▲",
            Self::Skipped => "■",
            Self::NotBegun | Self::Past | Self::NoFire | Self::Unseen => "○",
        }
    }

    fn word(self, text: &Text) -> String {
        let loader = text.loader();
        match self {
            Self::Succeeded => fl!(loader, "outcome-succeeded"),
            Self::Failed => fl!(loader, "outcome-failed"),
            Self::Running => fl!(loader, "fire-running"),
            Self::Due => fl!(loader, "graph-due"),
            Self::Skipped => fl!(loader, "kind-skipped"),
            Self::NotBegun => fl!(loader, "graph-not-begun"),
            Self::Past => fl!(loader, "graph-past"),
            Self::NoFire => fl!(loader, "graph-no-fire"),
            Self::Unseen => fl!(loader, "graph-no-fires"),
        }
    }
}

impl Job {
    /// The second line of its box.
    fn says(&self, text: &Text) -> String {
        if let Some(missing) = &self.missing {
            return missing.clone();
        }
        let word = self.state.word(text);
        let counts = self.fire.as_ref().filter(|_| matches!(self.state, State::Running | State::Failed));
        let counts = counts.map(|fire| format!(" {}/{}", fire.items_ended, fire.items));
        let took = self.took.map(|took| format!(" · {}", duration(&took)));
        format!("{} {word}{}{}", self.state.character(), counts.unwrap_or_default(), took.unwrap_or_default())
    }

    /// When the fire was run again, where all is said of that re-run.
    fn run_again(&self) -> Option<i64> {
        Some(self.fire.as_ref()?.rerun?.asked)
    }

    fn title(&self, text: &Text) -> String {
        let why = if self.why.is_empty() { String::new() } else { format!(" · {}", self.why) };
        format!("{} · {}{why}", self.name, self.says(text))
    }
}

impl Group {
    fn of(here: &Here, run: GraphRun, is_chosen: bool) -> Self {
        let text = &here.text;
        let names: Vec<JobName> = run.jobs.iter().map(|one| one.job.job.clone()).collect();
        let number = |job: &JobName| names.iter().position(|name| name == job);
        let mut lines = Vec::new();
        let mut words = Vec::new();
        for (to, one) in run.jobs.iter().enumerate() {
            for edge in &one.job.depends_on {
                let Some(from) = number(&edge.job) else { continue };
                lines.push((from, to));
                words.push(when(text, edge));
            }
        }
        let picture = (run.jobs.len() <= MOST_DRAWN).then(|| here.app.pictures.of(run.jobs.len(), lines));
        let jobs: Vec<Job> = run.jobs.into_iter().map(|one| Job::of(here, one)).collect();
        let mut legend: Vec<State> = jobs.iter().map(|job| job.state).filter(|state| *state != State::Unseen).collect();
        legend.sort_unstable();
        legend.dedup();
        let of_group = names.iter().find(|name| here.sees(name));
        let path = of_group.map(|job| format!("{}/graph", Head::of(here, job, "graph").path));
        let cycle = |cycle: &Vec<JobName>| cycle.iter().map(JobName::as_str).collect::<Vec<_>>().join(" → ");
        Self {
            at: run.at,
            is_chosen,
            path: path.unwrap_or_default(),
            fires: run.fires,
            jobs,
            picture,
            words,
            cycles: run.cycles.iter().map(cycle).collect(),
            legend,
        }
    }

    /// Whether the reader may run a fire of it again.
    fn may_operate(&self) -> bool {
        self.jobs.iter().any(|job| job.rerun.is_some())
    }

    /// Something of it may still come, so that the page is worth to be kept up to date.
    fn is_open(&self) -> bool {
        let open = [State::Running, State::Due, State::NotBegun];
        !self.is_chosen || self.jobs.iter().any(|job| open.contains(&job.state))
    }

    /// A job that no dependency connects with another one.
    fn is_alone(&self) -> bool {
        matches!(&self.jobs[..], [job] if job.missing.is_none())
    }

    fn is_of(&self, at: &i64) -> bool {
        self.at == Some(*at)
    }

    fn fire_link(&self, at: &i64) -> String {
        let time = FireId::Scheduled(*at).to_string();
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("at", &time).finish();
        format!("{}?{query}", self.path)
    }

    /// The jobs with their boxes.
    fn boxes(&self) -> Vec<(&Job, (Px, Px))> {
        let places = self.picture.iter().flat_map(|picture| &picture.boxes);
        self.jobs.iter().zip(places.copied()).collect()
    }

    /// The jobs in the order of the picture: each after those that it runs after.
    fn rows(&self) -> Vec<&Job> {
        if self.picture.is_none() {
            return self.jobs.iter().collect();
        }
        let mut boxes = self.boxes();
        boxes.sort_by(|(_, (x, y)), (_, other)| x.0.total_cmp(&other.0.0).then(y.0.total_cmp(&other.1.0)));
        boxes.into_iter().map(|(job, _)| job).collect()
    }

    /// The lines of the picture with their words; that of the usual case has none.
    fn lines(&self) -> Vec<(&layers::Line, &str)> {
        let lines = self.picture.iter().flat_map(|picture| &picture.lines);
        lines.zip(self.words.iter().map(String::as_str)).collect()
    }
}

impl Job {
    fn of(here: &Here, one: elasticjob::operations::RunOfJob) -> Self {
        let text = &here.text;
        let (job, fire) = (one.job, one.fire);
        let sees = here.sees(&job.job);
        let missing = match (sees, job.exists) {
            (false, _) => Some(fl!(text.loader(), "graph-not-visible")),
            (true, false) => Some(fl!(text.loader(), "graph-not-there")),
            (true, true) => None,
        };
        let path = Head::of(here, &job.job, "graph").path;
        let ran = fire.as_ref().filter(|fire| fire.began.is_some() && here.registry.trace_reader().is_some());
        let after = job.depends_on.iter().map(|edge| match when(text, edge) {
            word if word.is_empty() => edge.job.to_string(),
            word if edge.when == When::Succeeded => {
                fl!(text.loader(), "graph-after-items", job = edge.job.as_str(), items = word)
            }
            word => fl!(text.loader(), "graph-after", job = edge.job.as_str(), when = word),
        });
        let took = fire.as_ref().and_then(|fire| u64::try_from(fire.ended? - fire.began?).ok());
        let has_fire = |fire: &&GraphFire| !matches!(fire.state, GraphState::NoFire | GraphState::NotBegun);
        let again = fire.as_ref().filter(|_| here.may(Role::Operator, &job.job)).filter(has_fire);
        let unmet = fire.as_ref().and_then(|fire| fire.skipped.as_ref());
        let of_fire = unmet.map(|unmet| {
            let (end, when) = (end(text, unmet.end.as_str()), unmet.when.as_str());
            fl!(text.loader(), "graph-why", job = unmet.job.as_str(), end = end, when = when)
        });
        let of_items = fire.iter().flat_map(|fire| &fire.skipped_items).map(|SkippedItems { items, unmet, .. }| {
            let (end, when) = (end(text, unmet.end.as_str()), unmet.when.as_str());
            let (items, job) = (items.to_string(), unmet.job.as_str());
            fl!(text.loader(), "graph-why-items", items = items, job = job, end = end, when = when)
        });
        let why: Vec<String> = of_fire.into_iter().chain(of_items).collect();
        Self {
            short: shortened(job.job.as_str()),
            link: (sees && job.exists).then(|| path.clone()),
            fire_link: ran.map(|fire| format!("{path}/runs/{}", FireId::Scheduled(fire.at))),
            rerun: again.map(|fire| format!("{path}/runs/{}", segment(&FireId::Scheduled(fire.at).to_string()))),
            after: after.collect(),
            state: State::of(fire.as_ref()),
            missing,
            took,
            why: why.join(" "),
            cron: job.cron,
            name: job.job,
            fire,
        }
    }
}

/// For which end of the job before it a job runs, and whether item by item; empty for the success of all items, which is the
/// usual one.
fn when(text: &Text, edge: &GraphEdge) -> String {
    let loader = text.loader();
    let end = match edge.when {
        When::Failed => fl!(loader, "graph-when-failed"),
        When::Ended => fl!(loader, "graph-when-ended"),
        _ => String::new(),
    };
    match edge.items {
        DependencyItems::Same if end.is_empty() => fl!(loader, "graph-items-same"),
        DependencyItems::Same => fl!(loader, "graph-when-items-same", when = end),
        _ => end,
    }
}

/// How the fire of a job ended, as a part of a sentence.
fn end(text: &Text, end: &str) -> String {
    match end {
        "succeeded" => fl!(text.loader(), "graph-end-succeeded"),
        "failed" => fl!(text.loader(), "graph-end-failed"),
        "skipped" => fl!(text.loader(), "graph-end-skipped"),
        "no-fire" => fl!(text.loader(), "graph-end-no-fire"),
        _ => fl!(text.loader(), "graph-end-unknown"),
    }
}

/// A name that fits into a box: a character of Chinese takes the room of two others.
fn shortened(name: &str) -> String {
    let room = |c: char| if c.is_ascii() { 1 } else { 2 };
    if name.chars().map(room).sum::<usize>() <= NAME {
        return name.to_owned();
    }
    let mut left = NAME - 1;
    let fits = name.chars().take_while(|c| {
        let needs = room(*c);
        let does = needs <= left;
        left = left.saturating_sub(if does { needs } else { left });
        does
    });
    format!("{}…", fits.collect::<String>())
}

/// What a page shows.
struct Shown {
    /// The frame, which is kept up to date as long as something can change.
    layout: Layout,
    groups: Vec<Group>,
    total: usize,
}

async fn read(here: &Here, of: Option<&JobName>, query: &GraphQuery) -> Result<Shown, Box<Response>> {
    let layout = Layout::of(here).live(here);
    let found = runs(here, of, query, MOST_GROUPS).await.map_err(|problem| Box::new(error::problem(here, &problem)))?;
    let (total, is_chosen) = (found.total, !query.at.trim().is_empty());
    let groups: Vec<Group> = found.runs.into_iter().map(|run| Group::of(here, run, is_chosen)).collect();
    let is_open = groups.is_empty() || groups.iter().any(Group::is_open);
    Ok(Shown { layout: if is_open { layout } else { Layout { live: None, ..layout } }, groups, total })
}

pub(crate) async fn show(here: Here, Query(query): Query<GraphQuery>) -> Response {
    match read(&here, None, &query).await {
        Ok(Shown { layout, groups, total }) => page(&GraphPage { layout, clock: Clock::of(None), groups, total }),
        Err(problem) => *problem,
    }
}

pub(crate) async fn of_job(
    here: Here,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<GraphQuery>,
) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    match read(&here, Some(&job), &query).await {
        Ok(Shown { layout, groups, .. }) => {
            let head = Head::of(&here, &job, "graph");
            page(&JobGraphPage { layout, head, clock: Clock::of(None), groups })
        }
        Err(problem) => *problem,
    }
}

#[cfg(test)]
mod tests;
