//! The meaning of a failed handshake, in words for the operator. Pure.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use super::files::shown;
use super::{CLIENT_CERTIFICATE, CLIENT_KEY, ENABLED, TRUST_STORE, ZookeeperTls};

/// `plain`: whether the port answers without TLS.
pub(super) fn explain(tls: &ZookeeperTls, host: &str, error: &io::Error, plain: bool) -> String {
    if plain {
        return format!(
            "this port is one without TLS: name the secureClientPort of the server in server-lists, or set {ENABLED}: false"
        );
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(why)) => certificate(tls, host, why),
        Some(Error::AlertReceived(alert)) => refused(tls, *alert),
        Some(other) => format!("TLS fails: {other}"),
        None => closed(tls, error),
    }
}

/// The problem of the server's certificate.
fn certificate(tls: &ZookeeperTls, host: &str, why: &CertificateError) -> String {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
            "its certificate is not for '{host}' ({why}): write the name of the certificate in server-lists, or give the \
             server a certificate for '{host}'"
        ),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("its certificate expired at {}: renew it on the server", shown(*not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "its certificate is not valid before {}: mend the clock of this host, or that of the host which made it",
            shown(*not_before)
        ),
        CertificateError::Revoked => "its certificate is revoked: give the server another one".to_owned(),
        // A CA that was created again has its old name and another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match &tls.trust_store {
            Some(file) => format!(
                "its certificate is not of a CA in {TRUST_STORE} '{}': add the certificate of the CA that signed it to this \
                 file, if this is your server",
                file.display()
            ),
            None => format!(
                "its certificate is not of a CA that this system trusts: name a PEM file with the CA that signed it in \
                 {TRUST_STORE}, if this is your server"
            ),
        },
        other => format!("its certificate cannot be used: {other}"),
    }
}

/// The answer of the server about this client.
fn refused(tls: &ZookeeperTls, alert: AlertDescription) -> String {
    match (alert, &tls.client_certificate) {
        (AlertDescription::ProtocolVersion, _) => {
            format!("it refuses TLS 1.2 and 1.3 ({alert:?}): set ssl.enabledProtocols of the server to TLSv1.2,TLSv1.3")
        }
        (_, None) => format!(
            "it refuses this client ({alert:?}), which showed no certificate: set {CLIENT_CERTIFICATE} and {CLIENT_KEY} to one \
             of a CA that the server trusts"
        ),
        (_, Some(file)) => format!(
            "it refuses the certificate of this client in {CLIENT_CERTIFICATE} '{}' ({alert:?}): name one of a CA that the \
             server trusts, or add its CA to ssl.trustStore.location of the server",
            file.display()
        ),
    }
}

/// The connection ended without an answer.
fn closed(tls: &ZookeeperTls, error: &io::Error) -> String {
    let client = match tls.client_certificate {
        Some(_) => format!("it does not trust the CA of {CLIENT_CERTIFICATE}"),
        None => format!("it wants a certificate of this client ({CLIENT_CERTIFICATE} and {CLIENT_KEY})"),
    };
    format!(
        "it ended the handshake without a reason ({error}): the port is one without TLS, or {client}; its log says which"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tls: &ZookeeperTls, error: Error) -> String {
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
            assert!(told.contains(remedy), "{told}");
        }
        assert!(explain(&with, "zk1", &io::ErrorKind::UnexpectedEof.into(), true).contains("secureClientPort"));
        assert!(explain(&with, "zk1", &io::ErrorKind::UnexpectedEof.into(), false).contains("its log says which"));
    }
}
