//! The command line: `--elasticjob.key=value`. All other arguments belong to the program.

use super::Sources;
use super::dotted;
use super::error::SettingError;
use super::layer::Layer;
use super::node::{Node, Origin};
use super::resolve::{Resolver, Scope, ours};
use super::sources::SetOption;

/// The settings of arguments and options, and their problems.
pub(super) fn resolve(sources: &Sources, scope: Scope<'_>) -> (Layer, Vec<SettingError>) {
    let mut resolver = Resolver::new(scope);
    let mut errors = Vec::new();
    for SetOption { name, key, value } in &sources.options {
        match dotted::tokens(key) {
            Ok(tokens) => resolver.dotted(&tokens, &Node::text(Origin::place(name), value)),
            Err(reason) => resolver.unknown(&Origin::place(name), key, reason.to_owned()),
        }
    }
    for argument in &sources.arguments {
        let Some(argument) = argument.strip_prefix("--") else { continue };
        let (key, value) = match argument.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (argument, None),
        };
        let Some(tokens) = ours(key).filter(|tokens| tokens.as_ref().map_or(true, |tokens| !tokens.is_empty())) else {
            continue;
        };
        let origin = Origin::argument(key);
        match (tokens, value) {
            (Ok(tokens), Some(value)) => resolver.dotted(&tokens, &Node::text(origin, value)),
            (Ok(tokens), None) => {
                resolver.without_value(&tokens, &origin);
                errors.push(SettingError::WrongValue {
                    origin,
                    key: key.to_owned(),
                    value: "nothing".to_owned(),
                    expected: format!("a value after an equals sign: --{key}=VALUE"),
                });
            }
            (Err(reason), _) => resolver.unknown(&origin, key, reason.to_owned()),
        }
    }
    for argument in &sources.garbled_arguments {
        let key = argument.strip_prefix("--").map(|argument| argument.split('=').next().unwrap_or(argument));
        if let Some(Some(Ok(tokens))) = key.map(ours) {
            let origin = Origin::argument(key.unwrap_or_default());
            resolver.without_value(&tokens, &origin);
            errors.push(SettingError::garbled(origin, &tokens));
        }
    }
    let (layer, more) = resolver.finish();
    errors.extend(more);
    (layer, errors)
}

#[cfg(test)]
mod tests {
    use super::super::resolve::Wanted;
    use super::super::schema::{Key, KnownNames};
    use super::*;

    fn resolved(arguments: &[&str]) -> (Layer, Vec<String>) {
        let sources = Sources::of_arguments(arguments.iter().copied());
        let names = KnownNames::of_jobs(["known.job"]);
        let scope = Scope { names: &names, wanted: Wanted::All };
        let (layer, errors) = resolve(&sources, scope);
        (layer, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn names_of_jobs_with_dots_need_no_brackets() {
        let cases: [(&str, &[&str]); 8] = [
            ("--elasticjob.jobs.my.dotted.job.overwrite=v", &["jobs", "my.dotted.job", "overwrite"]),
            ("--elasticjob.jobs[my.dotted.job].overwrite=v", &["jobs", "my.dotted.job", "overwrite"]),
            ("--elasticjob.jobs.known.job.props.a.cron=v", &["jobs", "known.job", "props", "a.cron"]),
            ("--elasticjob.jobs.a.props.script.command.line=v", &["jobs", "a", "props", "script.command.line"]),
            ("--elasticjob.regCenter.server_lists=v", &["reg-center", "server-lists"]),
            ("--elasticjob.tracings.audit.data-source.url=v", &["tracings", "audit", "data-source", "url"]),
            ("--elasticjob.regCenters[my.archive].digest=v", &["reg-centers", "my.archive", "digest"]),
            ("--elasticjob.preferred.network.ip=v", &["preferred", "network", "ip"]),
        ];
        for (argument, path) in cases {
            let (layer, errors) = resolved(&[argument]);
            assert!(errors.is_empty(), "{argument}: {errors:?}");
            let key = path.iter().fold(Key::default(), |key, segment| key.child(segment));
            assert_eq!(layer.text(&key).map(|(_, text)| text).as_deref(), Some("v"), "{argument}: {layer:?}");
        }
    }

    #[test]
    fn items_of_a_list_may_be_given_one_by_one() {
        let (layer, errors) =
            resolved(&["--elasticjob.jobs.a.b.job-listener-types[0]=x", "--elasticjob.jobs.a.b.jobListenerTypes[1]=y"]);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(layer.text(&Key::of(["jobs", "a.b", "job-listener-types"])).unwrap().1, "x,y");
    }

    #[test]
    fn arguments_of_the_program_are_left_alone() {
        let (layer, errors) =
            resolved(&["--fires", "2", "--elasticjob", "--elasticjobs.x=1", "elasticjob.enabled=false", "-v"]);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(format!("{layer:?}"), "{}");
    }

    #[test]
    fn a_wrong_argument_is_named() {
        for (argument, parts) in [
            ("--elasticjob.enabled", ["--elasticjob.enabled", "--elasticjob.enabled=VALUE"]),
            ("--elasticjob.enabeld=true", ["elasticjob.enabeld", "did you mean 'enabled'?"]),
            ("--elasticjob.jobs.a.corn=x", ["elasticjob.jobs.a.corn", "did you mean 'cron'?"]),
            ("--elasticjob..x=1", ["--elasticjob..x", "empty"]),
            ("--elasticjob.enabled.deep=1", ["elasticjob.enabled.deep", "true or false"]),
        ] {
            let (_, errors) = resolved(&[argument]);
            assert_eq!(errors.len(), 1, "{argument}: {errors:?}");
            for part in parts {
                assert!(errors[0].contains(part), "{argument}: {}", errors[0]);
            }
        }
    }
}
