//! Environment variables: upper case with one separator; still every setting can be named.

use elasticjob::carried::{ATTEMPT, CARRIED, FAILURE};

use super::dotted::{self, Token};
use super::error::SettingError;
use super::layer::Layer;
use super::node::{Node, Origin};
use super::resolve::{Resolver, Scope, Wanted, ours};
use super::schema::{Kind, ROOT, Schema, Setting, nearest};
use super::sources::Environment;

const PREFIX: &str = "ELASTICJOB_";
/// Variables that are no settings: the filter of the log, which the set-up of logging reads, the mark of programs
/// that SCRIPT jobs start, and what a carried process is told.
const NOT_SETTINGS: &[&str] = &[
    "ELASTICJOB_LOG",
    "ELASTICJOB_RUN",
    CARRIED,
    FAILURE,
    ATTEMPT,
    "ELASTICJOB_JOB_NAME",
    "ELASTICJOB_JOB_PARAMETER",
    "ELASTICJOB_SHARDING_ITEM",
    "ELASTICJOB_SHARDING_PARAMETER",
    "ELASTICJOB_SHARDING_TOTAL_COUNT",
    "ELASTICJOB_SCHEDULED_AT",
    "ELASTICJOB_FENCING_TOKEN",
];

/// The jobs and properties that are known before the environment is read.
pub(super) struct Known<'a> {
    pub scope: Scope<'a>,
    pub props: &'a [String],
}

/// The settings of the environment, their problems, and a warning for each variable with the prefix of the library that
/// is no setting. Other programs may set such variables: for example a cluster that has a service named `elasticjob`.
pub(super) fn resolve(environment: &Environment, known: &Known<'_>) -> (Layer, Vec<SettingError>, Vec<String>) {
    let mut resolver = Resolver::new(known.scope);
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    for (name, value) in environment {
        let text = value.as_deref().unwrap_or_default();
        let node = Node::text(Origin::environment(name), text);
        match candidates(name, known) {
            None => {}
            Some(_) if is_of_a_service(name, text) => warnings.extend(unknown(name, known)),
            Some(candidates) => match candidates.as_slice() {
                [] => warnings.extend(unknown(name, known)),
                // A command that reads no jobs does not need to know which job is meant.
                [tokens, ..] if !known.scope.wanted.includes(&tokens[0].text) => {}
                [tokens] if value.is_none() => {
                    resolver.without_value(tokens, &node.origin);
                    errors.push(SettingError::garbled(node.origin, tokens));
                }
                [tokens] => {
                    warnings.extend(unknown_property(name, tokens, known));
                    resolver.dotted(tokens, &node);
                }
                several => {
                    several.iter().for_each(|tokens| resolver.without_value(tokens, &node.origin));
                    let jobs: Vec<String> = several.iter().map(|tokens| format!("'{}'", tokens[1].text)).collect();
                    errors.push(SettingError::AmbiguousJob { origin: node.origin, jobs: jobs.join(" and ") });
                }
            },
        }
    }
    let (layer, more) = resolver.finish();
    errors.extend(more);
    (layer, errors, warnings)
}

/// The warning for a property that no file and no option has: the capitals and the dots in its name are guessed.
fn unknown_property(name: &str, tokens: &[Token], known: &Known<'_>) -> Option<String> {
    let [_, job, props, property] = tokens else { return None };
    let is_guessed = props.text == "props" && !name.contains('.') && !known.props.contains(&property.text);
    is_guessed.then(|| {
        let (job, property) = (&job.text, &property.text);
        format!(
            "environment variable {name} is taken for the property '{property}' of job '{job}': no option and no file has one \
             of that name; where it has capitals or other dots, give it in a file, or as --elasticjob.jobs[{job}].props.NAME=VALUE"
        )
    })
}

/// Whether Kubernetes set the variable for a service of that name: `ELASTICJOB_DUMP_PORT=tcp://10.0.0.1:9888`. No port
/// setting has that form.
fn is_of_a_service(name: &str, value: &str) -> bool {
    name.ends_with("_PORT") && ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme))
}

/// The keys that a variable can mean; `None` when it has not the prefix of the library.
fn candidates(name: &str, known: &Known<'_>) -> Option<Vec<Vec<Token>>> {
    if NOT_SETTINGS.contains(&name) {
        return None;
    }
    // Container platforms allow variables whose name is the key of a setting itself.
    if name.contains('.') {
        let tokens = ours(name)?.unwrap_or_default();
        let mut check = Resolver::new(known.scope);
        check.dotted(&tokens, &Node::text(Origin::environment(name), ""));
        let (_, errors) = check.finish();
        let is_unknown = errors.iter().any(|error| matches!(error, SettingError::UnknownKey { .. }));
        return Some(if tokens.is_empty() || is_unknown { vec![] } else { vec![tokens] });
    }
    let upper = name.to_uppercase();
    let words: Vec<&str> = upper.strip_prefix(PREFIX)?.split('_').filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    follow(&ROOT, &words, known, &mut Vec::new(), &mut found);
    found.dedup();
    // The longest name of a job wins: then less of the variable is a guessed key of a property.
    let length =
        |tokens: &Vec<Token>| tokens.iter().find(|token| token.bracketed).map_or(0, |job| flat(&job.text).len());
    let longest = found.iter().map(length).max().unwrap_or(0);
    found.retain(|tokens| length(tokens) == longest);
    Some(found)
}

fn follow(
    schema: &'static Schema,
    words: &[&str],
    known: &Known<'_>,
    path: &mut Vec<Token>,
    found: &mut Vec<Vec<Token>>,
) {
    match schema {
        Schema::Section(settings) => section(settings, words, known, path, found),
        Schema::Named(names, settings) => {
            let section_name = path.last().map(|token| token.text.clone()).unwrap_or_default();
            let before = found.len();
            for name in known.scope.names.of(&section_name) {
                let flat = flat(name);
                for taken in (1..words.len()).filter(|taken| words[..*taken].concat() == flat) {
                    path.push(Token::bracketed(name));
                    section(settings, &words[taken..], known, path, found);
                    path.pop();
                }
            }
            if found.len() == before && names.in_environment_alone {
                for taken in 1..words.len() {
                    path.push(Token::bracketed(words[..taken].join("-").to_lowercase()));
                    section(settings, &words[taken..], known, path, found);
                    path.pop();
                }
            }
        }
        Schema::Props if words.is_empty() => {}
        Schema::Props => {
            let flat_words = words.concat();
            let key = known.props.iter().find(|key| flat(key) == flat_words).cloned();
            let key = Token::part(key.unwrap_or_else(|| words.join(".").to_lowercase()));
            found.push(path.iter().cloned().chain([key]).collect());
        }
        Schema::Value(Kind::List) if words.len() == 1 && words[0].bytes().all(|byte| byte.is_ascii_digit()) => {
            found.push(path.iter().cloned().chain([Token::bracketed(words[0])]).collect());
        }
        Schema::Value(_) if words.is_empty() => found.push(path.clone()),
        Schema::Value(_) => {}
    }
}

fn section(
    settings: &'static [Setting],
    words: &[&str],
    known: &Known<'_>,
    path: &mut Vec<Token>,
    found: &mut Vec<Vec<Token>>,
) {
    for setting in settings {
        for name in setting.names() {
            let flat = flat(name);
            for taken in (1..=words.len()).filter(|taken| words[..*taken].concat() == flat) {
                path.push(Token::part(setting.name));
                follow(&setting.schema, &words[taken..], known, path, found);
                path.pop();
            }
        }
    }
}

/// A name in the form of the environment: letters and digits, in upper case.
fn flat(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// A name without the prefix of all.
fn own(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// The warning for a variable that is no setting, if it seems to mean a setting that is wanted.
fn unknown(name: &str, known: &Known<'_>) -> Option<String> {
    let mut all = Vec::new();
    keys(&ROOT, &mut Vec::new(), known, &mut all);
    let upper = name.to_uppercase();
    // All names have the prefix: counted in, it makes a long name near to any other.
    let nearest = nearest(own(&upper), all.iter().map(|name| own(name))).map(|nearest| format!("{PREFIX}{nearest}"));
    let prefixes: Option<&[&str]> = match known.scope.wanted {
        Wanted::All => None,
        Wanted::RegistryCenter => Some(&["ELASTICJOB_REG_CENT", "ELASTICJOB_REGCENT"]),
        Wanted::RegistryCenters => Some(&["ELASTICJOB_REG_CENTERS", "ELASTICJOB_REGCENTERS"]),
        Wanted::Tracing => Some(&["ELASTICJOB_TRAC"]),
        Wanted::Tracings => Some(&["ELASTICJOB_TRACINGS"]),
        Wanted::Console => Some(&["ELASTICJOB_CONSOLE"]),
    };
    if let Some(prefixes) = prefixes {
        let is_meant = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if !is_meant(&upper) && !nearest.as_deref().is_some_and(is_meant) {
            return None;
        }
    }
    let hint = match nearest {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None if upper.starts_with("ELASTICJOB_JOBS_") => {
            let jobs = Vec::from_iter(known.scope.names.of("jobs")).join(", ");
            format!("after ELASTICJOB_JOBS_ stands the name of a job ({jobs}) and a setting")
        }
        None => "it is ignored".to_owned(),
    };
    Some(format!("environment variable {name} is not a setting: {hint}"))
}

fn keys(schema: &'static Schema, path: &mut Vec<String>, known: &Known<'_>, all: &mut Vec<String>) {
    match schema {
        Schema::Section(settings) => {
            for setting in *settings {
                path.push(setting.name.replace('-', "_").to_uppercase());
                keys(&setting.schema, path, known, all);
                path.pop();
            }
        }
        Schema::Named(_, settings) => {
            let section = path.last().map(|section| section.replace('_', "-").to_lowercase()).unwrap_or_default();
            for name in known.scope.names.of(&section) {
                for setting in *settings {
                    let setting = setting.name.replace('-', "_").to_uppercase();
                    all.push(format!("{PREFIX}{}_{}_{setting}", path.join("_"), flat(name)));
                }
            }
        }
        Schema::Value(_) => all.push(format!("{PREFIX}{}", path.join("_"))),
        Schema::Props => {}
    }
}

/// The value of an environment variable under a dotted name: in that spelling, or in the form of the environment.
pub(super) fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a Option<String>> {
    environment.get(name).or_else(|| {
        let tokens = dotted::tokens(name).ok()?;
        let words: Vec<String> = tokens.iter().map(|token| token.text.replace('-', "").to_uppercase()).collect();
        environment.get(&words.join("_"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Key, KnownNames};
    use super::*;

    fn resolved(jobs: &[&str], variables: &[(&str, &str)]) -> (Layer, Vec<String>, Vec<String>) {
        resolved_for(Wanted::All, jobs, variables)
    }

    fn resolved_for(wanted: Wanted, jobs: &[&str], variables: &[(&str, &str)]) -> (Layer, Vec<String>, Vec<String>) {
        let environment =
            variables.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect();
        let names = KnownNames::of_jobs(jobs.iter().copied());
        let props = ["streaming.process".to_owned(), "script.commandLine".to_owned()];
        let (layer, errors, warnings) =
            resolve(&environment, &Known { scope: Scope { names: &names, wanted }, props: &props });
        (layer, errors.iter().map(ToString::to_string).collect(), warnings)
    }

    fn value(layer: &Layer, key: Key) -> String {
        layer.text(&key).map(|(_, text)| text).unwrap_or_else(|| panic!("{key} in {layer:?}"))
    }

    #[test]
    fn both_forms_of_a_name_and_of_a_job_are_understood() {
        for name in [
            "ELASTICJOB_REG_CENTER_SERVER_LISTS",
            "ELASTICJOB_REGCENTER_SERVERLISTS",
            "elasticjob.regCenter.server-lists",
        ] {
            let (layer, errors, warnings) = resolved(&[], &[(name, "zk:2181")]);
            assert_eq!((errors.len(), warnings.len()), (0, 0), "{name}: {errors:?} {warnings:?}");
            assert_eq!(value(&layer, Key::of(["reg-center", "server-lists"])), "zk:2181");
        }
        for name in ["ELASTICJOB_JOBS_MYJOB_SHARDINGTOTALCOUNT", "ELASTICJOB_JOBS_MY_JOB_SHARDING_TOTAL_COUNT"] {
            let (layer, ..) = resolved(&["other", "myJob"], &[(name, "7")]);
            assert_eq!(value(&layer, Key::of(["jobs", "myJob", "sharding-total-count"])), "7");
        }
        let (layer, ..) = resolved(&["my.dotted-job", "my"], &[("ELASTICJOB_JOBS_MY_DOTTED_JOB_CRON", "x")]);
        assert_eq!(value(&layer, Key::of(["jobs", "my.dotted-job", "cron"])), "x");
        let (layer, errors, _) = resolved(&["a", "a-props"], &[("ELASTICJOB_JOBS_A_PROPS_CRON", "x")]);
        assert!(errors.is_empty(), "the longer name of a job is meant: {errors:?}");
        assert_eq!(value(&layer, Key::of(["jobs", "a-props", "cron"])), "x");
    }

    #[test]
    fn keys_of_properties_are_the_known_ones_else_dotted() {
        let (layer, ..) = resolved(
            &["j"],
            &[("ELASTICJOB_JOBS_J_PROPS_SCRIPT_COMMAND_LINE", "echo"), ("ELASTICJOB_JOBS_J_PROPS_MY_KEY", "v")],
        );
        assert_eq!(value(&layer, Key::of(["jobs", "j", "props", "script.commandLine"])), "echo");
        assert_eq!(value(&layer, Key::of(["jobs", "j", "props", "my.key"])), "v");
    }

    #[test]
    fn a_property_that_is_not_known_is_told_with_the_name_that_it_is_taken_for() {
        let variables =
            [("ELASTICJOB_JOBS_J_PROPS_STREAMING_PROCESS", "true"), ("ELASTICJOB_JOBS_J_PROPS_MY_KEY", "v")];
        let (_, _, warnings) = resolved(&["j"], &variables);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        for part in ["ELASTICJOB_JOBS_J_PROPS_MY_KEY", "'my.key' of job 'j'"] {
            assert!(warnings[0].contains(part), "{warnings:?}");
        }
        let (_, _, warnings) = resolved(&["j"], &[("elasticjob.jobs.j.props.MyKey", "v")]);
        assert!(warnings.is_empty(), "its letters are as they are: {warnings:?}");
    }

    #[test]
    fn other_registry_centers_need_no_file() {
        let variables = [
            ("ELASTICJOB_REG_CENTERS_ARCHIVE_SERVER_LISTS", "a:1"),
            ("ELASTICJOB_TRACINGS_AUDIT_DATA_SOURCE_URL", "u"),
        ];
        let (layer, errors, warnings) = resolved(&[], &variables);
        assert!(errors.is_empty() && warnings.is_empty(), "{errors:?} {warnings:?}");
        assert_eq!(value(&layer, Key::of(["reg-centers", "archive", "server-lists"])), "a:1");
        assert_eq!(value(&layer, Key::of(["tracings", "audit", "data-source", "url"])), "u");
    }

    #[test]
    fn a_variable_that_names_two_jobs_is_an_error() {
        let (_, errors, _) = resolved(&["myJob", "MyJob"], &[("ELASTICJOB_JOBS_MYJOB_CRON", "x")]);
        assert_eq!(errors.len(), 1);
        for part in ["ELASTICJOB_JOBS_MYJOB_CRON", "'MyJob' and 'myJob'"] {
            assert!(errors[0].contains(part), "{}", errors[0]);
        }
    }

    #[test]
    fn an_unknown_variable_with_our_prefix_is_a_warning() {
        let variables = [
            ("ELASTICJOB_SERVICE_HOST", "x"),
            ("ELASTICJOB_REG_CENTER_NAMESPCE", "x"),
            ("ELASTICJOB_JOBS_NOBODY_AT_ALL", "x"),
            ("PATH", "x"),
            ("ELASTICJOB_LOG", "debug"),
        ];
        let (layer, errors, warnings) = resolved(&["j"], &variables);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(format!("{layer:?}"), "{}");
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings[1].contains("did you mean 'ELASTICJOB_REG_CENTER_NAMESPACE'?"), "{}", warnings[1]);
        assert!(warnings[0].contains("(j)"), "{}", warnings[0]);
    }

    #[test]
    fn who_wants_the_registry_center_alone_is_warned_of_what_is_meant_for_it_alone() {
        let variables = [
            ("ELASTICJOB_SERVICE_HOST", "x"),
            ("ELASTICJOB_JOBS_NOBODY_AT_ALL", "x"),
            ("ELASTICJOB_DUMP_PRT", "x"),
            ("ELASTICJOB_DUMP_PORT", "x"),
            ("ELASTICJOB_JOBS_MYJOB_CRON", "x"),
            ("ELASTICJOB_REG_CENTRE_ANYTHING_AT_ALL", "x"),
            ("ELASTICJOB_GER_CENTER_NAMESPACE", "x"),
            ("ELASTICJOB_REG_CENTER_NAMESPACE", "ns"),
        ];
        let (layer, errors, warnings) = resolved_for(Wanted::RegistryCenter, &["myJob", "MyJob"], &variables);
        assert_eq!((errors, format!("{layer:?}")), (vec![], "{\"elasticjob.reg-center.namespace\"}".to_owned()));
        assert!(
            warnings.len() == 2 && warnings[0].contains("_GER_") && warnings[1].contains("_CENTRE_"),
            "{warnings:?}"
        );
    }

    #[test]
    fn what_a_cluster_says_of_a_service_of_our_name_is_no_setting() {
        let (layer, errors, warnings) = resolved(&[], &[("ELASTICJOB_DUMP_PORT", "tcp://10.0.0.1:9888")]);
        assert!(errors.is_empty() && warnings.len() == 1, "{errors:?} {warnings:?}");
        assert_eq!(format!("{layer:?}"), "{}");
        let (layer, ..) = resolved(&[], &[("ELASTICJOB_DUMP_PORT", "9888")]);
        assert_eq!(value(&layer, Key::of(["dump", "port"])), "9888");
    }
}
