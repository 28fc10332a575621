//! Hints at the settings that may cause an error of a mail server.

use std::error::Error;
use std::io;

use lettre::transport::smtp;

use super::delivery::Security;

/// The text of an SMTP error without the parts that the SMTP library repeats.
pub(super) fn in_words(error: &smtp::Error) -> String {
    let text = error.to_string();
    let mut parts: Vec<&str> = text.split(": ").collect();
    parts.dedup();
    parts.join(": ")
}

/// The settings to look at, where the error shows them. `None` as the error means that the server did not answer.
pub(super) fn hint(error: Option<&smtp::Error>, security: Security) -> Option<&'static str> {
    match (error.map(tls_error), security) {
        (Some(Some(rustls::Error::InvalidCertificate(_))), _) => {
            Some("name the certificates to trust in `email.ssl.trusted.certificates`")
        }
        (Some(Some(rustls::Error::InvalidMessage(_))), Security::Implicit) => Some(
            "it does not speak TLS from the first byte on: set `email.useStartTls` to true, or without any TLS \
             `email.useSsl` to false",
        ),
        (Some(None), Security::StartTls) if error.is_some_and(smtp::Error::is_client) => {
            Some("set `email.useStartTls` to false; `email.useSsl` true is TLS from the first byte on")
        }
        (None, Security::StartTls | Security::Plain) => Some(
            "where it speaks TLS from the first byte on, `email.useSsl` has to be true and `email.useStartTls` false",
        ),
        _ => None,
    }
}

fn tls_error(error: &smtp::Error) -> Option<&rustls::Error> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an I/O error is the source of the error inside of it, so that inner error would be left out.
        let made_of = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = made_of.map(|error| error as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
