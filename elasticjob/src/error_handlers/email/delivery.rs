//! The conversation with a mail server.
//!
//! It goes step by step, as the SMTP library gives up at the first recipient that is refused: then no recipient would
//! get the mail.

use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, MailParameter};
use lettre::{Address, Message};

use super::hint::{hint, in_words};
use crate::api::{JobError, JobResult};

/// How long the server may take for one step.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How the connection is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    /// TLS from the first byte on.
    Implicit,
    /// TLS after the command STARTTLS, which the server has to grant.
    StartTls,
    /// No TLS.
    Plain,
}

/// The server that sends the mails.
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) credentials: Credentials,
    pub(super) security: Security,
    /// `None` without TLS.
    pub(super) tls: Option<TlsParameters>,
}

impl Server {
    /// Sends a mail to all recipients that the server accepts.
    ///
    /// # Errors
    /// Names the server, and the recipients that do not get the mail.
    pub(super) async fn deliver(&self, message: &Message) -> JobResult {
        let outcome = self.converse(message).await;
        outcome.map_err(|why| JobError::message(format!("mail server {}:{}: {why}", self.host, self.port)))
    }

    async fn converse(&self, message: &Message) -> Result<(), String> {
        let mut connection = self.connect().await?;
        let login = connection.auth(DEFAULT_MECHANISMS, &self.credentials);
        self.step("the login (`email.username`, `email.password`) failed", login).await?;
        let refused = self.announce(&mut connection, message).await?;
        let not_to = |refused: &[(Address, String)]| {
            let all: Vec<String> = refused.iter().map(|(address, why)| format!("{address}: {why}")).collect();
            all.join("; ")
        };
        if refused.len() == message.envelope().to().len() {
            connection.abort().await;
            return Err(format!("it accepts no recipient of the mail: {}", not_to(&refused)));
        }
        self.step("it does not take the mail", connection.command(Data)).await?;
        self.step("it does not take the mail", connection.message(&message.formatted())).await?;
        // The server has the mail: an error of QUIT does not matter.
        let _ = tokio::time::timeout(TIMEOUT, connection.quit()).await;
        if refused.is_empty() { Ok(()) } else { Err(format!("it took the mail, but not for {}", not_to(&refused))) }
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, String> {
        let name = ClientId::default();
        let tls = self.tls.clone().filter(|_| self.security == Security::Implicit);
        let address = (self.host.as_str(), self.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(address, Some(TIMEOUT), &name, tls, None);
        let mut connection = self.step("it cannot be reached", connecting).await?;
        if let (Security::StartTls, Some(tls)) = (self.security, &self.tls) {
            self.step("there is no TLS", connection.starttls(tls.clone(), &name)).await?;
        }
        Ok(connection)
    }

    /// Sends the sender and the recipients. Returns the recipients that the server refuses, each with the reason.
    async fn announce(
        &self,
        connection: &mut AsyncSmtpConnection,
        message: &Message,
    ) -> Result<Vec<(Address, String)>, String> {
        let envelope = message.envelope();
        let mut addresses = envelope.to().iter().chain(envelope.from());
        let utf8 = addresses.any(|address| !AsRef::<str>::as_ref(address).is_ascii());
        let options = utf8.then_some(MailParameter::SmtpUtfEight).into_iter().collect();
        let from = connection.command(Mail::new(envelope.from().cloned(), options));
        self.step("it does not take mails of `email.from`", from).await?;
        let mut refused = Vec::new();
        for address in envelope.to() {
            let asked = connection.command(Rcpt::new(address.clone(), Vec::new()));
            match tokio::time::timeout(TIMEOUT, asked).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) if error.is_permanent() || error.is_transient() => {
                    refused.push((address.clone(), in_words(&error)));
                }
                Ok(Err(error)) => return Err(format!("{address}: {}", in_words(&error))),
                Err(_) => return Err(format!("{address}: {}", no_answer())),
            }
        }
        Ok(refused)
    }

    async fn step<T>(&self, otherwise: &str, step: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
        let (why, hint) = match tokio::time::timeout(TIMEOUT, step).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => (in_words(&error), hint(Some(&error), self.security)),
            Err(_) => (no_answer(), hint(None, self.security)),
        };
        Err(format!("{otherwise}: {why}{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default()))
    }
}

fn no_answer() -> String {
    format!("no answer within {} s", TIMEOUT.as_secs())
}
