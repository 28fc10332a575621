//! The meaning of a failed handshake, in words for the operator. Pure.

use std::io;

use elasticjob_syntax::message::Message;
use rustls::{AlertDescription, CertificateError, Error};

use super::ZookeeperTls;
use super::files::shown;
use crate::texts;

/// `plain`: whether the port answers without TLS.
pub(super) fn explain(tls: &ZookeeperTls, host: &str, error: &io::Error, plain: bool) -> Message {
    if plain {
        return texts::tls_plain_port();
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(why)) => certificate(tls, host, why),
        Some(Error::AlertReceived(alert)) => refused(tls, *alert),
        Some(other) => texts::tls_fails(other.to_string()),
        None => closed(tls, error),
    }
}

/// The problem of the server's certificate.
fn certificate(tls: &ZookeeperTls, host: &str, why: &CertificateError) -> Message {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            texts::tls_other_name(host, why.to_string())
        }
        CertificateError::ExpiredContext { not_after, .. } => texts::tls_expired(shown(*not_after)),
        CertificateError::NotValidYetContext { not_before, .. } => texts::tls_not_yet(shown(*not_before)),
        CertificateError::Revoked => texts::tls_revoked(),
        // A CA that was created again has its old name and another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match &tls.trust_store {
            Some(file) => texts::tls_other_authority(file.display().to_string()),
            None => texts::tls_unknown_authority(),
        },
        other => texts::tls_certificate(other.to_string()),
    }
}

/// The answer of the server about this client.
fn refused(tls: &ZookeeperTls, alert: AlertDescription) -> Message {
    let answer = format!("{alert:?}");
    match (alert, &tls.client_certificate) {
        (AlertDescription::ProtocolVersion, _) => texts::tls_versions(answer),
        (_, None) => texts::tls_wants_certificate(answer),
        (_, Some(file)) => texts::tls_refuses_certificate(file.display().to_string(), answer),
    }
}

/// The connection ended without an answer.
fn closed(tls: &ZookeeperTls, error: &io::Error) -> Message {
    match tls.client_certificate {
        Some(_) => texts::tls_closed_with_certificate(error.to_string()),
        None => texts::tls_closed_without_certificate(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tls: &ZookeeperTls, error: Error) -> Message {
        explain(tls, "zk1", &io::Error::new(io::ErrorKind::InvalidData, error), false)
    }

    #[test]
    fn every_refusal_names_what_to_do() {
        let with = ZookeeperTls {
            trust_store: Some("/etc/ca.pem".into()),
            client_certificate: Some("/etc/own.pem".into()),
            client_key: Some("/etc/own.key".into()),
        };
        let without = ZookeeperTls::default();
        for (tls, error, remedy) in [
            (&with, CertificateError::UnknownIssuer.into(), "add the certificate of the CA that signed it"),
            (&without, CertificateError::UnknownIssuer.into(), "in tls.trust-store"),
            (&with, CertificateError::NotValidForName.into(), "certificate for 'zk1'"),
            (&with, CertificateError::Revoked.into(), "another one"),
            (&with, Error::AlertReceived(AlertDescription::UnknownCA), "ssl.trustStore.location"),
            (&without, Error::AlertReceived(AlertDescription::BadCertificate), "set tls.client-certificate"),
            (&with, Error::AlertReceived(AlertDescription::ProtocolVersion), "ssl.enabledProtocols"),
        ] {
            let told = told(tls, error);
            assert!(told.as_str().contains(remedy) && told.code().is_some(), "{told}");
        }
        for (plain, remedy) in [(true, "secureClientPort"), (false, "its log says which")] {
            let told = explain(&with, "zk1", &io::ErrorKind::UnexpectedEof.into(), plain);
            assert!(told.as_str().contains(remedy), "{told}");
        }
    }
}
