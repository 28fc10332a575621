use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::*;
use crate::api::Failed;
use crate::ident::InstanceId;

const COMPLETE: [(&str, &str); 6] = [
    ("email.host", "127.0.0.1"),
    ("email.port", "25"),
    ("email.username", "robot"),
    ("email.password", "hush"),
    ("email.from", "Robot <robot@example.com>"),
    ("email.to", "a@example.com, B <b@example.com>"),
];

fn configuration(props: &[(&str, &str)]) -> JobConfiguration {
    let all = COMPLETE.iter().chain(props);
    all.fold(JobConfiguration::builder("reports", 1), |b, (key, value)| b.prop(*key, *value)).build().unwrap()
}

fn failure(props: &[(&str, &str)]) -> JobFailure {
    JobFailure {
        configuration: Arc::new(configuration(props)),
        instance: InstanceId::of_process("10.0.0.1", 7),
        what: Failed::Item(3),
        error: "<script>alert('x')</script> 错误".to_owned(),
        at: chrono::DateTime::UNIX_EPOCH.fixed_offset(),
    }
}

/// A server that takes one mail, and tells everything that it was sent.
async fn server() -> (u16, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        write.write_all(b"220 here\r\n").await.unwrap();
        let (mut told, mut in_data) = (Vec::new(), false);
        while let Some(line) = lines.next_line().await.unwrap() {
            told.push(line.clone());
            let answer = match line.split(' ').next().unwrap_or_default() {
                "." => {
                    in_data = false;
                    "250 taken\r\n"
                }
                _ if in_data => continue,
                "EHLO" => "250-here\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN\r\n",
                "AUTH" => "235 welcome\r\n",
                "DATA" => {
                    in_data = true;
                    "354 go on\r\n"
                }
                "QUIT" => "221 bye\r\n",
                _ => "250 fine\r\n",
            };
            write.write_all(answer.as_bytes()).await.unwrap();
        }
        told
    });
    (port, told)
}

#[tokio::test]
async fn a_mail_goes_to_everybody_and_what_failed_stays_text() {
    let (port, told) = server().await;
    let port = port.to_string();
    let props = [
        ("email.port", port.as_str()),
        ("email.useSsl", "false"),
        ("email.cc", "c@example.com"),
        ("email.bcc", "d@x.y"),
    ];
    Email.handle(&failure(&props)).await.unwrap();
    let told = told.await.unwrap();
    assert!(told.iter().any(|line| line.starts_with("AUTH PLAIN ")), "{told:#?}");
    for recipient in ["a@example.com", "b@example.com", "c@example.com", "d@x.y"] {
        assert!(told.iter().any(|line| line.starts_with(&format!("RCPT TO:<{recipient}>"))), "{told:#?}");
    }
    let text = told.join("\n");
    assert!(text.contains("Subject: ElasticJob error message") && text.contains("text/html"), "{text}");
    assert!(!text.contains("Bcc:") && !text.contains("d@x.y\nSubject"), "{text}");
    assert!(!text.contains("<script>") && !text.contains("hush"), "{text}");
}

#[test]
fn text_is_escaped() {
    let html = html(&failure(&[]));
    assert!(html.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; 错误"), "{html}");
}

#[test]
fn the_connection_is_safe_unless_that_is_switched_off() {
    let security = |props: &[(&str, &str)]| Email::read(&configuration(props)).ok().unwrap().security;
    assert_eq!(security(&[]), Security::Implicit);
    assert_eq!(security(&[("email.useStartTls", "true")]), Security::StartTls);
    assert_eq!(security(&[("email.useSsl", "FALSE")]), Security::Plain);
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_an_error() {
    let (port, _told) = server().await;
    let port = port.to_string();
    let error = Email.handle(&failure(&[("email.port", &port), ("email.useStartTls", "true")])).await.unwrap_err();
    assert!(error.to_string().contains("STARTTLS"), "{error}");
}

#[test]
fn what_is_wrong_with_the_options_is_told_at_start() {
    let builder = JobConfiguration::builder("reports", 1);
    let problems = Email.check(&builder.build().unwrap());
    let missing: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 6, "{missing:#?}");
    assert!(missing.iter().all(|problem| problem.contains("is missing")), "{missing:#?}");
    assert_eq!(Email.check(&configuration(&[])), []);
    let wrong: [(&str, &str); 4] =
        [("email.port", "0"), ("email.to", "nobody"), ("email.useSsl", "maybe"), ("email.cc", "@")];
    for (key, value) in wrong {
        let problems = Email.check(&configuration(&[(key, value)]));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].to_string().starts_with(&format!("props.{key}: '{value}'")), "{problems:?}");
    }
}
