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
    let (props, refused) = followed(&[("mail.host", "ours")], &theirs);
    assert_eq!(props, text(&[("mail.host", "ours")]));
    let [told] = &refused[..] else { panic!("{refused:?}") };
    assert!(told.starts_with("props.mail.host, props.mail.password: "), "the address comes first: {told}");
    assert!(told.contains("`props.mail.host.from-registry: true`") && !told.contains("known to Java"), "{told}");
    // The same with the permission, whatever the program has beside it.
    let permission = ("mail.host.from-registry", "true");
    for program in [&[permission][..], &[permission, ("mail.host", "ours")], &[permission, ("mail.password", " ")]] {
        let (props, refused) = followed(program, &theirs);
        assert_eq!((&props[..1], &props[2..], refused.len()), (&text(&theirs)[..1], &text(&theirs)[1..], 0));
    }
    // An address alone, which decides who is told of failures.
    let (props, refused) = followed(&[("mail.host", "ours")], &theirs[..1]);
    assert_eq!((props, refused.len()), (text(&[("mail.host", "ours")]), 1));
    let (_, refused) = followed(&[("mail.host", "theirs")], &theirs[..1]);
    assert_eq!(refused, Vec::<String>::new(), "the same address");
    // The permission never sends the program's own secret to an address of the registry.
    let (props, refused) = followed(&[permission, ours[0], ours[1]], &theirs);
    assert_eq!((&props[0], &props[2], refused.len()), (&text(&ours)[0], &text(&ours)[1], 2));
    // The address of a robot is the secret itself.
    let robot = [("robot.webhook", "theirs")];
    let (props, refused) = followed(&[], &robot);
    assert!(props.is_empty() && refused[0].contains("`props.robot.webhook.from-registry: true`"), "{refused:?}");
    let (props, refused) = followed(&[("robot.webhook.from-registry", "true")], &robot);
    assert_eq!((&props[0], refused.len()), (&text(&robot)[0], 0));
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
    let missing = Invalid::prop("mail.password", "is missing");
    let allowed = ("mail.host.from-registry", "true");
    assert!(with(&[allowed]).leaves_to_registry(&missing, &ALL));
    assert!(!with(&[]).leaves_to_registry(&missing, &ALL));
    let own = with(&[allowed, ("mail.password", "hush")]);
    assert!(!own.leaves_to_registry(&Invalid::prop("mail.host", "is missing"), &ALL), "it goes with its own secret");
}

#[test]
fn whoever_changes_the_registry_is_told_what_programs_do_with_it() {
    assert!(RUN.note("run.line").unwrap().contains("`props.run.line.from-registry: true`"));
    assert!(ASK.note("ask.method").unwrap().contains("`props.ask.uri.from-registry: true`"));
    assert!(MAIL.note("mail.password").unwrap().contains("`props.mail.host.from-registry: true`"));
    let note = MAIL.note("mail.host").unwrap();
    assert!(note.contains("mail.password") && note.contains("`props.mail.host.from-registry: true`"), "{note}");
    assert_eq!((RUN.note("ask.uri"), MAIL.note("mail.subject")), (None, None));
}
