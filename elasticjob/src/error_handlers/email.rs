//! `EMAIL`: sends a mail.

mod certificates;
mod delivery;
mod hint;

use lettre::Message;
use lettre::message::{Mailbox, Mailboxes, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;

use self::certificates::{is_trusted, trusting};
use self::delivery::{Security, Server};
use crate::api::{JobError, JobErrorHandler, JobFailure, JobResult};
use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames, Options};
use crate::texts;

const SUBJECT: &str = "ElasticJob error message";
const CERTIFICATES: &str = "email.ssl.trusted.certificates";
const TRUSTED_HOSTS: &str = "email.ssl.trust";
/// Allows the mail server of the registry center, with its password. Read from the configuration of the program only.
const FROM_REGISTRY: &str = "email.host.from-registry";

struct Mail<'a> {
    host: &'a str,
    port: u16,
    credentials: Credentials,
    security: Security,
    /// A file with certificates in PEM form to trust beside those of the system.
    trusted: Option<&'a str>,
    trusted_hosts: Option<&'a str>,
    /// Java's handler prints the conversation when this is set.
    debug: bool,
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
        let mut options = Options::of(configuration, texts::owner_handler());
        let host = options.required(&["email.host"], "smtp.example.com");
        let port = options.required(&["email.port"], "465");
        let port = match port.parse::<u16>() {
            Ok(port @ 1..) => port,
            _ if port.is_empty() => 0,
            _ => {
                options.wrong("email.port", texts::property_port(port));
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
            trusted: options.text(&[CERTIFICATES]),
            trusted_hosts: options.text(&[TRUSTED_HOSTS]),
            debug: options.flag("email.debug", false),
            subject: options.text(&["email.subject"]).unwrap_or(SUBJECT),
            from: mailboxes(&mut options, "email.from", Some(from)).into_iter().next(),
            to: mailboxes(&mut options, "email.to", Some(to)),
            cc: optional_mailboxes(&mut options, "email.cc"),
            bcc: optional_mailboxes(&mut options, "email.bcc"),
        };
        options.flag(FROM_REGISTRY, false);
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
        options.wrong(key, texts::property_addresses(text, format!("{error}")));
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

    /// Reads the certificates to trust, and describes the server.
    fn server(&self) -> Result<Server, JobError> {
        let tls = match self.security {
            Security::Implicit | Security::StartTls => Some(trusting(self.host, self.trusted, self.trusted_hosts)?),
            Security::Plain => None,
        };
        let Self { port, security, .. } = *self;
        Ok(Server { host: self.host.to_owned(), port, credentials: self.credentials.clone(), security, tls })
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

    fn check_at_start(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let Ok(mail) = Self::read(configuration) else { return Vec::new() };
        let job = configuration.job_name();
        if mail.security != Security::Plain && is_trusted(mail.host, mail.trusted_hosts) {
            crate::log::warn!(%job, host = mail.host, "{TRUSTED_HOSTS} trusts the mail server whatever certificate it shows: a server that answers in its place gets the password; name its certificate in {CERTIFICATES} instead");
        }
        if mail.debug {
            crate::log::warn!(%job, "email.debug has no effect: the conversation with a mail server shows the password; what fails is in the log without it");
        }
        let wrong = mail.trusted.and_then(|file| certificates::read(file).err());
        wrong.map(|why| Invalid::prop(CERTIFICATES, why)).into_iter().collect()
    }

    fn options(&self) -> OptionNames {
        &[
            &["email.host"],
            &[FROM_REGISTRY],
            &["email.port"],
            &["email.username"],
            &["email.password"],
            &["email.from"],
            &["email.to"],
            &["email.cc"],
            &["email.bcc"],
            &["email.subject"],
            &["email.useSsl"],
            &["email.useStartTls"],
            &[CERTIFICATES],
            &[TRUSTED_HOSTS],
            &["email.debug"],
        ]
    }

    fn bound_options(&self) -> &'static [BoundOptions] {
        // The recipients of the mails learn what failed, and get the mails in the name of the program.
        const SENT_WITH: &[&str] = &[
            "email.host",
            "email.port",
            "email.username",
            "email.useSsl",
            "email.useStartTls",
            CERTIFICATES,
            TRUSTED_HOSTS,
            "email.from",
            "email.to",
            "email.cc",
            "email.bcc",
        ];
        &[BoundOptions::Secret { secrets: &["email.password"], sent_with: SENT_WITH }]
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        let failed = failure.clone();
        // On a thread that may block: certificates are read from files.
        let prepared = tokio::task::spawn_blocking(move || {
            let mail = Self::read(&failed.configuration).map_err(JobError::settings)?;
            Ok::<_, JobError>((mail.server()?, mail.message(&failed)?))
        });
        let (server, message) = prepared.await??;
        server.deliver(&message).await
    }
}

/// The failure as HTML. Special characters in it are escaped, so it stays text.
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
