//! `EMAIL`: sends a mail.

use std::time::Duration;

use lettre::message::{Mailbox, Mailboxes, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use crate::api::{JobError, JobErrorHandler, JobFailure, JobResult};
use crate::config::{Invalid, JobConfiguration, Options};

/// How long the server may take for one step.
const TIMEOUT: Duration = Duration::from_secs(30);

const SUBJECT: &str = "ElasticJob error message";

/// How the connection is made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Security {
    /// TLS from the first byte on.
    Implicit,
    /// TLS after a request, which has to be granted.
    StartTls,
    /// Not at all.
    Plain,
}

struct Mail<'a> {
    host: &'a str,
    port: u16,
    credentials: Credentials,
    security: Security,
    /// A file with certificates in PEM form to trust beside those of the system.
    trusted: Option<&'a str>,
    subject: &'a str,
    from: Option<Mailbox>,
    to: Mailboxes,
    cc: Mailboxes,
    bcc: Mailboxes,
}

/// Sends mails.
pub(super) struct Email;

impl Email {
    fn read(configuration: &JobConfiguration) -> Result<Mail<'_>, Vec<Invalid>> {
        let mut options = Options::of(configuration, "the error handler");
        let host = options.required(&["email.host"], "smtp.example.com");
        let port = options.required(&["email.port"], "465");
        let port = match port.parse::<u16>() {
            Ok(port @ 1..) => port,
            _ if port.is_empty() => 0,
            _ => {
                options.wrong("email.port", format!("'{port}': expected a port, 1 to 65535"));
                0
            }
        };
        let user = options.required(&["email.username"], "robot");
        let password = options.required(&["email.password"], "${MAIL_PASSWORD}");
        let security = match (options.flag("email.useSsl", true), options.flag("email.useStartTls", false)) {
            (_, true) => Security::StartTls,
            (true, false) => Security::Implicit,
            (false, false) => Security::Plain,
        };
        let from = options.required(&["email.from"], "robot@example.com");
        let to = options.required(&["email.to"], "duty@example.com,lead@example.com");
        let mail = Mail {
            host,
            port,
            credentials: Credentials::new(user.to_owned(), password.to_owned()),
            security,
            trusted: options.text(&["email.ssl.trusted.certificates"]),
            subject: options.text(&["email.subject"]).unwrap_or(SUBJECT),
            from: mailboxes(&mut options, "email.from", Some(from)).into_iter().next(),
            to: mailboxes(&mut options, "email.to", Some(to)),
            cc: optional_mailboxes(&mut options, "email.cc"),
            bcc: optional_mailboxes(&mut options, "email.bcc"),
        };
        options.end(mail)
    }
}

fn optional_mailboxes(options: &mut Options<'_>, key: &str) -> Mailboxes {
    let given = options.text(&[key]);
    mailboxes(options, key, given)
}

fn mailboxes(options: &mut Options<'_>, key: &str, given: Option<&str>) -> Mailboxes {
    let Some(text) = given.filter(|text| !text.is_empty()) else { return Mailboxes::new() };
    text.parse().unwrap_or_else(|error| {
        options.wrong(key, format!("'{text}': expected mail addresses, separated by commas: {error}"));
        Mailboxes::new()
    })
}

impl Mail<'_> {
    fn message(&self, failure: &JobFailure) -> Result<Message, JobError> {
        let from = self.from.clone().ok_or_else(|| JobError::message("email.from has no address"))?;
        let mut message = Message::builder().from(from).subject(self.subject);
        let recipients =
            [&self.to, &self.cc, &self.bcc].into_iter().zip([Recipient::To, Recipient::Copy, Recipient::Blind]);
        for (mailboxes, recipient) in recipients {
            for mailbox in mailboxes.iter().cloned() {
                message = match recipient {
                    Recipient::To => message.to(mailbox),
                    Recipient::Copy => message.cc(mailbox),
                    Recipient::Blind => message.bcc(mailbox),
                };
            }
        }
        Ok(message.header(ContentType::TEXT_HTML).body(html(failure))?)
    }

    fn transport(&self) -> Result<AsyncSmtpTransport<Tokio1Executor>, JobError> {
        let tls = |host: &str| -> Result<TlsParameters, JobError> {
            let mut parameters = TlsParameters::builder(host.to_owned());
            if let Some(file) = self.trusted {
                let pem = std::fs::read(file).map_err(|error| JobError::message(format!("{file}: {error}")))?;
                parameters = parameters.add_root_certificate(Certificate::from_pem(&pem)?);
            }
            Ok(parameters.build()?)
        };
        let tls = match self.security {
            Security::Implicit => Tls::Wrapper(tls(self.host)?),
            Security::StartTls => Tls::Required(tls(self.host)?),
            Security::Plain => Tls::None,
        };
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(self.host);
        Ok(transport.port(self.port).tls(tls).credentials(self.credentials.clone()).timeout(Some(TIMEOUT)).build())
    }
}

#[derive(Clone, Copy)]
enum Recipient {
    To,
    Copy,
    Blind,
}

impl JobErrorHandler for Email {
    fn type_name(&self) -> &str {
        "EMAIL"
    }

    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        Self::read(configuration).err().unwrap_or_default()
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        let failed = failure.clone();
        // Certificates are read from files.
        let prepared = tokio::task::spawn_blocking(move || {
            let mail = Self::read(&failed.configuration).map_err(JobError::settings)?;
            Ok::<_, JobError>((mail.transport()?, mail.message(&failed)?, format!("{}:{}", mail.host, mail.port)))
        });
        let (transport, message, server) = prepared.await??;
        let sent = transport.send(message).await;
        sent.map(drop).map_err(|error| JobError::message(format!("mail server {server}: {}", JobError::from(error))))
    }
}

/// The failure as HTML: whatever is in it stays text.
fn html(failure: &JobFailure) -> String {
    let escaped = failure.to_string().chars().fold(String::new(), |mut text, character| {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            '\n' => text.push_str("<br>\n"),
            other => text.push(other),
        }
        text
    });
    format!("<html><body><p>{escaped}</p></body></html>\n")
}

#[cfg(test)]
mod tests;
