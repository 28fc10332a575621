use super::*;
use crate::config::JobConfigurationBuilder;

const MAIL: BoundOptions = BoundOptions::Secret { secrets: &["mail.password"], sent_with: &["mail.host", "mail.tls"] };
const ROBOT: BoundOptions = BoundOptions::Secret { secrets: &["robot.webhook", "robot.secret"], sent_with: &[] };
const RUN: BoundOptions = BoundOptions::Command(&[&["run.line"]]);
const ASK: BoundOptions = BoundOptions::Command(&[&["ask.uri", "ask.url"], &["ask.method"]]);
const ALL: [BoundOptions; 4] = [MAIL, ROBOT, RUN, ASK];

fn with(props: &[(&str, &str)]) -> JobConfiguration {
    let fold = |builder: JobConfigurationBuilder, (key, value): &(&str, &str)| builder.prop(*key, *value);
    props.iter().fold(JobConfiguration::builder("job", 1), fold).build().unwrap()
}

/// The properties that a program uses when it has the first ones and the registry center the second ones, and the
/// properties that it refuses.
fn followed(program: &[(&str, &str)], registry: &[(&str, &str)]) -> (Vec<(String, String)>, Vec<String>) {
    let Followed { configuration, refused } = with(registry).under(&with(program), &ALL);
    let props = configuration.props.iter().map(|(key, value)| (key.to_string(), value.to_string()));
    (props.collect(), refused)
}

/// The table in docs/security.md, case by case.
#[test]
fn a_secret_goes_only_where_the_side_that_has_it_says() {
    let text = |props: &[(&str, &str)]| -> Vec<(String, String)> {
        props.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let ours = [("mail.host", "ours"), ("mail.password", "hush")];
    // The same, or nothing, in the registry: nothing is refused.
    for registry in [&[][..], &[("mail.host", "ours")], &ours] {
        assert_eq!(followed(&ours, registry), (text(&ours), vec![]));
    }
    // Another address, another option of TLS, another secret.
    for key in ["mail.host", "mail.tls", "mail.password"] {
        let (props, refused) = followed(&ours, &[(key, "theirs")]);
        assert_eq!(props, text(&ours));
        assert!(refused.len() == 1 && refused[0].starts_with(&format!("props.{key}: ")), "{refused:?}");
        assert!(!refused[0].contains("theirs") && !refused[0].contains("hush"), "{refused:?}");
    }
    // The program has the secret and no address: the one of the registry is not used.
    let (props, refused) = followed(&[("mail.password", "hush")], &[("mail.host", "theirs")]);
    assert_eq!(props, text(&[("mail.password", "hush")]));
    assert!(refused[0].contains("set it there, beside mail.password"), "{refused:?}");
    // The registry has both, as a Java group keeps them, and the program no secret.
    let theirs = [("mail.host", "theirs"), ("mail.password", "known to Java")];
    assert_eq!(followed(&[("mail.host", "ours")], &theirs), (text(&theirs), vec![]));
    assert_eq!(followed(&[("mail.password", " ")], &theirs), (text(&theirs), vec![]), "an empty secret is none");
    // Neither has a secret: nothing changes.
    assert_eq!(followed(&[("mail.host", "ours")], &theirs[..1]), (text(&theirs[..1]), vec![]));
    // The program needs only one of the two secrets.
    let (props, refused) = followed(&[("robot.secret", "hush")], &[("robot.webhook", "theirs")]);
    assert_eq!((props, refused.len()), (text(&[("robot.secret", "hush")]), 1));
}

#[test]
fn a_command_is_the_programs_unless_the_program_allows_that_of_the_registry() {
    let run = |value| vec![("run.line".to_owned(), String::from(value))];
    assert_eq!(followed(&[("run.line", "ours")], &[("run.line", "ours")]), (run("ours"), vec![]));
    assert_eq!(followed(&[("run.line", "ours")], &[]), (run("ours"), vec![]));
    let (props, refused) = followed(&[("run.line", "ours")], &[("run.line", "theirs")]);
    assert_eq!(props, run("ours"));
    assert!(refused[0].contains("`props.run.line.from-registry: true`"), "{refused:?}");
    let (props, refused) = followed(&[], &[("run.line", "theirs")]);
    assert_eq!((props.len(), refused.len()), (0, 1));
    let permission = ("run.line.from-registry", "TRUE");
    let (props, refused) = followed(&[("run.line", "ours"), permission], &[("run.line", "theirs")]);
    assert_eq!((&props[0], refused.len()), (&run("theirs")[0], 0));
    for no in ["false", "", "yes"] {
        let (props, _) = followed(&[("run.line", "ours"), ("run.line.from-registry", no)], &[("run.line", "theirs")]);
        assert_eq!(props[0], run("ours")[0], "{no}");
    }
}

#[test]
fn the_registry_cannot_allow_itself_anything() {
    let (props, refused) =
        followed(&[("run.line", "ours")], &[("run.line", "theirs"), ("run.line.from-registry", "true")]);
    assert_eq!(props, [("run.line".to_owned(), "ours".to_owned())]);
    assert!(refused[0].starts_with("props.run.line.from-registry: only the settings of the program"), "{refused:?}");
    let program = with(&[("run.line.from-registry", "true"), ("run.line", "ours")]);
    assert_eq!(program.for_registry(None).prop("run.line.from-registry"), None, "it is not written there");
    assert_eq!(program.differences(&program.for_registry(None)), Vec::<String>::new());
}

#[test]
fn what_is_asked_counts_together_whatever_its_names() {
    let (props, refused) =
        followed(&[("ask.uri", "u"), ("ask.method", "GET")], &[("ask.url", "u"), ("ask.method", "GET")]);
    assert_eq!(refused, Vec::<String>::new(), "the older name of the same value");
    assert_eq!(props.len(), 2);
    let (props, refused) = followed(&[("ask.uri", "u"), ("ask.method", "GET")], &[("ask.method", "DELETE")]);
    assert_eq!((props[0].1.as_str(), refused.len()), ("GET", 1));
    let allowed = [("ask.uri", "u"), ("ask.method", "GET"), ("ask.uri.from-registry", "true")];
    let (props, refused) = followed(&allowed, &[("ask.uri", "v"), ("ask.method", "PUT")]);
    assert_eq!((props[0].1.as_str(), props[1].1.as_str(), refused.len()), ("PUT", "v", 0));
}

#[test]
fn what_is_missing_may_be_left_to_the_registry_where_it_is_allowed() {
    let missing = Invalid::prop("ask.method", "is missing");
    let allowed = [("ask.uri.from-registry", "true")];
    assert!(with(&allowed).leaves_to_registry(&missing, &ALL));
    assert!(!with(&[]).leaves_to_registry(&missing, &ALL));
    assert!(!with(&allowed).leaves_to_registry(&Invalid::prop("run.line", "is missing"), &ALL));
    assert!(!with(&[allowed[0], ("ask.method", "x")]).leaves_to_registry(&missing, &ALL), "it is there, and wrong");
}

#[test]
fn whoever_changes_the_registry_is_told_what_programs_do_with_it() {
    assert!(RUN.note("run.line").unwrap().contains("`props.run.line.from-registry: true`"));
    assert!(ASK.note("ask.method").unwrap().contains("`props.ask.uri.from-registry: true`"));
    assert!(MAIL.note("mail.host").unwrap().contains("has mail.password itself"));
    assert_eq!((RUN.note("ask.uri"), MAIL.note("mail.subject")), (None, None));
}
