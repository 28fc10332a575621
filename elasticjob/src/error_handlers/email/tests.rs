use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;
use crate::api::{Failed, RunInfo};
use crate::fire::{ExecutionSource, Fire, RunKey};
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
    let instance = InstanceId::of_process("10.0.0.1", 7);
    let at = chrono::DateTime::UNIX_EPOCH.fixed_offset();
    let configuration = Arc::new(configuration(props));
    let key = RunKey::new(Fire::Scheduled(0), ExecutionSource::Failover);
    let run = Arc::new(RunInfo::new(key, configuration.clone(), instance.clone(), vec![3], at));
    JobFailure::new(configuration, instance, Failed::Item(3), "<script>alert('x')</script> 错误", at).of_run(run)
}

/// A server that takes one mail over such a connection, and returns everything that it received.
async fn server(security: Security) -> (String, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let told = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        match security {
            Security::Plain => converse(stream, "220 here\r\n", "").await.0,
            Security::Implicit => {
                let Ok(stream) = acceptor().accept(stream).await else { return vec![] };
                converse(stream, "220 here\r\n", "").await.0
            }
            Security::StartTls => {
                let (mut told, stream) = converse(stream, "220 here\r\n", "250-STARTTLS\r\n").await;
                told.extend(converse(acceptor().accept(stream).await.unwrap(), "", "").await.0);
                told
            }
        }
    });
    (port, told)
}

/// Talks until the client is done or wants to go on in TLS. Returns the lines of the client.
async fn converse<S>(stream: S, greeting: &str, offers: &str) -> (Vec<String>, S)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut stream = BufReader::new(stream);
    stream.write_all(greeting.as_bytes()).await.unwrap();
    let (mut told, mut in_data) = (Vec::new(), false);
    let capabilities = format!("250-here\r\n{offers}250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN\r\n");
    let mut line = String::new();
    // An error counts as an end without QUIT.
    while stream.read_line(&mut line).await.unwrap_or(0) > 0 {
        let said = std::mem::take(&mut line).trim_end().to_owned();
        told.push(said.clone());
        let answer = match said.split(' ').next().unwrap_or_default() {
            "." => {
                in_data = false;
                "250 taken\r\n"
            }
            _ if in_data => continue,
            "EHLO" => &capabilities,
            "AUTH" => "235 welcome\r\n",
            "STARTTLS" => "220 go on\r\n",
            "DATA" => {
                in_data = true;
                "354 go on\r\n"
            }
            "QUIT" => "221 bye\r\n",
            "RCPT" if said.contains("<nobody@") => "550 no such user\r\n",
            _ => "250 fine\r\n",
        };
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        if said == "STARTTLS" {
            break;
        }
    }
    (told, stream.into_inner())
}

/// A TLS server with a certificate of its own for 127.0.0.1.
fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_file(certificate_file()).unwrap();
    let key = PrivateKeyDer::from_pem_file(certificate_file().replace(".pem", ".key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap()))
}

fn certificate_file() -> String {
    format!("{}/../tests/data/tls/localhost.pem", env!("CARGO_MANIFEST_DIR"))
}

#[tokio::test]
async fn a_mail_goes_to_everybody_and_what_failed_stays_text() {
    let (port, told) = server(Security::Plain).await;
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
async fn a_mail_goes_over_tls_from_the_first_byte_on_or_after_a_request() {
    for (security, start_tls) in [(Security::Implicit, "false"), (Security::StartTls, "true")] {
        let (port, told) = server(security).await;
        let trusted = certificate_file();
        let props = [
            ("email.port", port.as_str()),
            ("email.useStartTls", start_tls),
            ("email.ssl.trusted.certificates", trusted.as_str()),
        ];
        Email.handle(&failure(&props)).await.unwrap();
        let told = told.await.unwrap();
        assert_eq!(told.iter().any(|line| line == "STARTTLS"), start_tls == "true", "{told:#?}");
        assert!(told.iter().any(|line| line.starts_with("RCPT TO:<a@example.com>")), "{told:#?}");
        let (login, asked) = (|line: &String| line.starts_with("AUTH "), |line: &String| line == "STARTTLS");
        assert!(told.iter().position(login) > told.iter().position(asked), "the password goes over TLS: {told:#?}");
    }
}

#[tokio::test]
async fn a_server_with_a_certificate_that_nobody_vouches_for_gets_nothing() {
    let (port, told) = server(Security::Implicit).await;
    let error = Email.handle(&failure(&[("email.port", &port)])).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    assert_eq!(told.await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_host_that_is_trusted_by_name_needs_no_certificate_that_is_vouched_for() {
    for (hosts, is_trusted) in [("mail.example.com 127.0.0.1", true), ("*", true), ("mail.example.com", false)] {
        let (port, told) = server(Security::Implicit).await;
        let props = [("email.port", port.as_str()), ("email.ssl.trust", hosts), ("email.debug", "true")];
        assert_eq!(Email.check(&configuration(&props)), []);
        assert_eq!(Email.handle(&failure(&props)).await.is_ok(), is_trusted, "{hosts}");
        assert_eq!(told.await.unwrap().iter().any(|line| line.starts_with("AUTH ")), is_trusted, "{hosts}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_an_error() {
    let (port, _told) = server(Security::Plain).await;
    let error = Email.handle(&failure(&[("email.port", &port), ("email.useStartTls", "true")])).await.unwrap_err();
    assert!(error.to_string().contains("STARTTLS"), "{error}");
    assert!(error.to_string().starts_with(&format!("mail server 127.0.0.1:{port}: ")), "{error}");
}

#[tokio::test]
async fn a_recipient_that_is_refused_is_named_and_the_others_get_the_mail() {
    let (port, told) = server(Security::Plain).await;
    let props = [("email.port", port.as_str()), ("email.useSsl", "false"), ("email.cc", "nobody@example.com")];
    let error = Email.handle(&failure(&props)).await.unwrap_err().to_string();
    let why = "it took the mail, but not for nobody@example.com: permanent error (550): no such user";
    assert_eq!(error, format!("mail server 127.0.0.1:{port}: {why}"));
    let told = told.await.unwrap();
    for line in ["RCPT TO:<a@example.com>", "RCPT TO:<b@example.com>", "."] {
        assert!(told.iter().any(|said| said == line), "{told:#?}");
    }
}

#[tokio::test]
async fn a_mail_that_nobody_gets_is_not_sent() {
    let (port, told) = server(Security::Plain).await;
    let props = [("email.port", port.as_str()), ("email.useSsl", "false"), ("email.to", "nobody@example.com")];
    let error = Email.handle(&failure(&props)).await.unwrap_err().to_string();
    assert!(
        error.contains("it accepts no recipient of the mail: nobody@example.com: permanent error (550)"),
        "{error}"
    );
    let told = told.await.unwrap();
    assert!(!told.iter().any(|said| said == "DATA"), "{told:#?}");
}

#[tokio::test]
async fn tls_at_a_port_without_is_told_once_with_the_settings_to_look_at() {
    let (port, _told) = server(Security::Plain).await;
    let error = Email.handle(&failure(&[("email.port", &port)])).await.unwrap_err().to_string();
    assert_eq!(error.matches("corrupt message").count(), 1, "{error}");
    assert_eq!(error.matches("Connection error").count(), 1, "{error}");
    for setting in ["`email.useStartTls` to true", "`email.useSsl` to false"] {
        assert!(error.contains(setting), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_once() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let port = nobody.port().to_string();
    let error = Email.handle(&failure(&[("email.port", &port)])).await.unwrap_err().to_string();
    assert_eq!(error.matches("refused").count(), 1, "{error}");
}

#[tokio::test]
async fn a_file_without_certificates_to_trust_is_found_at_the_start_and_by_mails() {
    let key = certificate_file().replace(".pem", ".key");
    let cases = [("no/such.pem", "No such file"), (key.as_str(), "no certificate"), ("Cargo.toml", "no certificate")];
    for (file, why) in cases {
        let props = [(CERTIFICATES, file)];
        assert_eq!(Email.check(&configuration(&props)), [], "no file is read then");
        let [problem] = &Email.check_at_start(&configuration(&props))[..] else { panic!("{file}") };
        let problem = problem.to_string();
        let starts = format!("props.{CERTIFICATES}: '{file}': ");
        assert!(problem.starts_with(&starts) && problem.contains(why), "{problem}");
        let error = Email.handle(&failure(&props)).await.unwrap_err().to_string();
        assert_eq!(error, problem);
    }
    assert_eq!(Email.check_at_start(&configuration(&[(CERTIFICATES, &certificate_file())])), []);
    assert_eq!(Email.check_at_start(&configuration(&[])), []);
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
