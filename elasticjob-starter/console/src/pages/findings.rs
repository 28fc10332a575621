//! Findings in the language of the reader, each with the button or the command that helps.

use std::collections::HashMap;

use elasticjob::fire::FireState;
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{Argument, Finding, Reason, Remedy};

use i18n_embed_fl::fl;

use super::time::Clock;
use crate::access::Role;
use crate::here::Here;
use crate::parity::of_registry;
use crate::text::{Language, Text};
use crate::translated;

/// A finding on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Its class in the style sheet.
    pub(crate) class: &'static str,
    pub(crate) since: Option<i64>,
    /// What helps, as a command.
    pub(crate) command: Option<String>,
    /// What helps, as a button, for a reader who may press it.
    pub(crate) help: Option<Help>,
}

/// What a button of a finding does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Help {
    /// Makes up for a run that was lost.
    Trigger,
    /// Enables all servers of the job.
    EnableServers,
    /// Enables a server of the job.
    EnableServer(String),
    EnableItem(ShardingItem),
    /// Leads to the form of the configuration.
    Edit,
}

impl Help {
    fn of(here: &Here, job: &JobName, remedy: &Remedy) -> Option<Self> {
        let (help, needs) = match remedy {
            Remedy::Trigger => (Self::Trigger, Role::Operator),
            Remedy::EnableServers => (Self::EnableServers, Role::Operator),
            Remedy::EnableServer(server) => (Self::EnableServer(server.clone()), Role::Operator),
            Remedy::EnableItem(item) => (Self::EnableItem(*item), Role::Operator),
            Remedy::CorrectConfiguration | Remedy::ChangeSchedule => (Self::Edit, Role::Editor),
            // A console starts no program.
            _ => return None,
        };
        here.may(needs, job).then_some(help)
    }
}

pub(crate) fn lines(here: &Here, job: &JobName, findings: &[Finding], clock: &Clock) -> Vec<Line> {
    findings.iter().map(|finding| line(here, job, finding, clock)).collect()
}

fn line(here: &Here, job: &JobName, finding: &Finding, clock: &Clock) -> Line {
    let text = &here.text;
    let told = match text.language() {
        Language::English => sentence(&finding.reason.describe(&|at| clock.at(&at))),
        _ => in_other_words(text, finding, clock),
    };
    // Nodes that are gone have no times: a catalogue that saw them go knows it, and no other view.
    let is_unseen = finding.since.is_none() && matches!(finding.reason, Reason::NoInstance | Reason::NoLeader);
    let told = if is_unseen { format!("{told} {}", fl!(text.loader(), "since-unseen")) } else { told };
    let remedy = finding.remedy();
    Line {
        text: told,
        class: class_of(finding),
        since: finding.since,
        help: remedy.as_ref().and_then(|remedy| Help::of(here, job, remedy)),
        command: remedy.and_then(|remedy| remedy.command(job)).map(|line| of_registry(&line, here.registry.name())),
    }
}

/// What keeps the job or the item from running, and a run that failed, are seen first.
fn class_of(finding: &Finding) -> &'static str {
    match &finding.reason {
        Reason::Ended(last) if last.state == FireState::Failed => "failure",
        _ if finding.is_obstacle() => "obstacle",
        _ => "",
    }
}

/// The English of the core goes on after the name of a job; here it stands alone.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).chain(['.']).collect()
}

/// Arguments that a finding may be without.
const OPTIONAL: [&str; 8] =
    ["instance", "failover", "fireAt", "limitSeconds", "beganAt", "endedAt", "tookMilliseconds", "error"];

/// The text `finding-CODE`, with the arguments of the finding.
fn in_other_words(text: &Text, finding: &Finding, clock: &Clock) -> String {
    let mut arguments: HashMap<&str, String> = OPTIONAL.map(|name| (name, String::new())).into();
    arguments.extend(finding.arguments().into_iter().map(|(name, value)| (name, shown(&value, clock))));
    if let Reason::ConfigurationRefused(why) = &finding.reason {
        arguments.insert("why", translated::shown(text, why));
    }
    let id = format!("finding-{}", finding.code());
    match text.loader().has(&id) {
        true => text.loader().get_args(&id, arguments),
        // A reason that a later release of the core has.
        false => sentence(&finding.reason.describe(&|at| clock.at(&at))),
    }
}

fn shown(value: &Argument, clock: &Clock) -> String {
    match value {
        Argument::Text(text) => text.clone(),
        Argument::Texts(texts) => texts.join(", "),
        Argument::Time(at) => clock.at(at),
        Argument::Number(number) => number.to_string(),
        Argument::Flag(flag) => flag.to_string(),
        _ => String::new(),
    }
}
