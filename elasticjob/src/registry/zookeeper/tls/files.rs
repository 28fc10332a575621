//! Reads certificates and keys, and reports problems with them before a server does.

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use zookeeper_client::{Connector, TlsCa, TlsCerts, TlsIdentity, TlsOptions};

use super::super::config::InvalidSetting;
use super::{CLIENT_CERTIFICATE, CLIENT_KEY, TRUST_STORE, ZookeeperTls};
use crate::cryptography;

const SYSTEM: &str = "of the system";

/// The content of the files, ready for use.
pub(in super::super) struct Loaded {
    pub(super) tls: ZookeeperTls,
    certificates: TlsCerts,
    /// The same for the connections of this library itself.
    pub(super) config: Arc<ClientConfig>,
}

impl Loaded {
    /// Makes connections of this client use TLS where the address of a server asks for it.
    pub(in super::super) fn on(&self, connector: Connector) -> Connector {
        // The client uses the provider that the process has chosen.
        cryptography::settle();
        connector.with_tls(TlsOptions::new().with_certs(self.certificates.clone()))
    }
}

/// Reads all files.
///
/// # Errors
/// Each file that cannot be used.
pub(in super::super) fn load(tls: &ZookeeperTls) -> Result<Loaded, Vec<InvalidSetting>> {
    match (Trust::read(tls.trust_store.as_deref()), Identity::read(tls)) {
        (Ok(trust), Ok(identity)) => together(tls, trust, identity).map_err(|problem| vec![problem]),
        (trust, identity) => Err(trust.err().into_iter().chain(identity.err().into_iter().flatten()).collect()),
    }
}

/// Whether a certificate can be issued for a server of this name.
pub(in super::super) fn valid_name(host: &str) -> bool {
    ServerName::try_from(host).is_ok()
}

fn together(tls: &ZookeeperTls, trust: Trust, identity: Option<Identity>) -> Result<Loaded, InvalidSetting> {
    let untrusted =
        |error: &dyn Display| trust_store(tls.trust_store.as_deref(), format!("it cannot be used: {error}"));
    let builder = ClientConfig::builder_with_provider(cryptography::provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| untrusted(&error))?;
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(trust.roots), builder.crypto_provider().clone())
            .with_crls(trust.revoked)
            .build()
            .map_err(|error| untrusted(&error))?;
    let builder = builder.with_webpki_verifier(verifier);
    let certificates = TlsCerts::builder().with_ca(TlsCa::from_pem(&trust.pem).map_err(|error| untrusted(&error))?);
    let (config, certificates) = match identity {
        None => (builder.with_no_client_auth(), certificates),
        Some(Identity { certificate_pem, key_pem, chain, key }) => {
            let unusable = |error: &dyn Display| unusable_key(tls, error);
            let config = builder.with_client_auth_cert(chain, key).map_err(|error| unusable(&error))?;
            let identity = TlsIdentity::from_pem(&certificate_pem, &key_pem).map_err(|error| unusable(&error))?;
            (config, certificates.with_identity(identity))
        }
    };
    let certificates = certificates.build().map_err(|error| untrusted(&error))?;
    Ok(Loaded { tls: tls.clone(), certificates, config: Arc::new(config) })
}

/// The certificates that are trusted.
struct Trust {
    pem: String,
    roots: RootCertStore,
    revoked: Vec<CertificateRevocationListDer<'static>>,
}

impl Trust {
    fn read(file: Option<&Path>) -> Result<Self, InvalidSetting> {
        let pem = match file {
            Some(file) => text_of(file).map_err(|why| trust_store(Some(file), format!("{why}; {TRUST_REMEDY}")))?,
            None => of_system(),
        };
        let mut roots = RootCertStore::empty();
        let (trusted, _) =
            roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok));
        if trusted == 0 {
            let reason = match file {
                Some(_) => format!("there is no certificate in it; {TRUST_REMEDY}"),
                None => "this system trusts no CA: install ca-certificates, or name a PEM file with the CAs to trust"
                    .to_owned(),
            };
            return Err(trust_store(file, reason));
        }
        let revoked: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(pem.as_bytes()).collect();
        let revoked =
            revoked.map_err(|error| trust_store(file, format!("a revocation list in it is broken: {error}")))?;
        Ok(Self { pem, roots, revoked })
    }
}

const TRUST_REMEDY: &str = "name a PEM file with the certificates of the CAs to trust; keytool -exportcert -rfc writes one \
    from a Java key store";

/// The certificate of this program, with its key.
struct Identity {
    certificate_pem: String,
    key_pem: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    fn read(tls: &ZookeeperTls) -> Result<Option<Self>, Vec<InvalidSetting>> {
        let (Some(certificate), Some(key)) = (&tls.client_certificate, &tls.client_key) else { return Ok(None) };
        match (chain_of(certificate), key_of(key)) {
            (Ok((certificate_pem, chain)), Ok((key_pem, key))) => {
                CertifiedKey::from_der(chain.clone(), key.clone_key(), &cryptography::provider())
                    .map_err(|error| vec![unusable_key(tls, &error)])?;
                Ok(Some(Self { certificate_pem, key_pem, chain, key }))
            }
            (chain, key) => Err(chain.err().into_iter().chain(key.err()).collect()),
        }
    }
}

fn chain_of(file: &Path) -> Result<(String, Vec<CertificateDer<'static>>), InvalidSetting> {
    let wrong = |reason| problem(CLIENT_CERTIFICATE, file, reason);
    let remedy = "name the PEM file with the certificate of this program";
    let pem = text_of(file).map_err(|why| wrong(format!("{why}; {remedy}")))?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let chain = chain.map_err(|error| wrong(format!("it is broken: {error}; {remedy}")))?;
    let Some((own, between)) = chain.split_first() else {
        return Err(wrong(format!("there is no certificate in it; {remedy}")));
    };
    if let Some(why) = unfit(own, between) {
        return Err(wrong(why));
    }
    Ok((pem, chain))
}

fn key_of(file: &Path) -> Result<(String, PrivateKeyDer<'static>), InvalidSetting> {
    let wrong = |reason| problem(CLIENT_KEY, file, reason);
    let remedy = "name the PEM file with the private key of this program";
    let pem = text_of(file).map_err(|why| wrong(format!("{why}; {remedy}")))?;
    if pem.contains("ENCRYPTED") {
        let reason =
            "it has a passphrase: write it without one, with openssl pkey, in a file that only this program can read";
        return Err(wrong(reason.to_owned()));
    }
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()) {
        Ok(key) => Ok((pem, key)),
        Err(_) => Err(wrong(format!("there is no private key in it; {remedy}"))),
    }
}

/// The reason why no server can accept a certificate, whatever CA the server trusts.
fn unfit(own: &CertificateDer<'static>, between: &[CertificateDer<'static>]) -> Option<String> {
    let mut roots = RootCertStore::empty();
    if let Err(error) = roots.add(own.clone()) {
        return Some(format!("its certificate is broken: {error}"));
    }
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), cryptography::provider()).build().ok()?;
    // The CA that the server trusts is not known here. So only errors that do not depend on it count.
    match verifier.verify_client_cert(own, between, UnixTime::now()).err()? {
        rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. }) => {
            Some(format!("it expired at {}: renew it", shown(not_after)))
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext { not_before, .. }) => {
            Some(format!("it is not valid before {}: wait, or mend the clock of this host", shown(not_before)))
        }
        rustls::Error::InvalidCertificate(CertificateError::InvalidPurposeContext { .. }) => Some(
            "it is not for clients: name one with the extended key usage clientAuth, or without that extension"
                .to_owned(),
        ),
        _ => None,
    }
}

pub(super) fn shown(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    DateTime::<Utc>::from_timestamp(seconds, 0)
        .map_or_else(|| format!("second {seconds} since 1970"), |time| time.to_rfc3339())
}

fn text_of(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|_| "it is no PEM file, which is text".to_owned())
}

fn problem(key: &'static str, file: &Path, reason: String) -> InvalidSetting {
    InvalidSetting { key, value: file.display().to_string(), reason }
}

fn trust_store(file: Option<&Path>, reason: String) -> InvalidSetting {
    problem(TRUST_STORE, file.unwrap_or(Path::new(SYSTEM)), reason)
}

fn unusable_key(tls: &ZookeeperTls, error: &dyn Display) -> InvalidSetting {
    let shown =
        |file: &Option<std::path::PathBuf>| file.as_deref().map(|file| file.display().to_string()).unwrap_or_default();
    let reason = format!(
        "it is not the key of the certificate in {CLIENT_CERTIFICATE} '{}' ({error}): name the two files that belong together",
        shown(&tls.client_certificate)
    );
    InvalidSetting { key: CLIENT_KEY, value: shown(&tls.client_key), reason }
}

/// The certificates that the system trusts, as PEM, which is the form that the client takes. Certificates that cannot
/// be read are left out.
fn of_system() -> String {
    let pem =
        |der: &[u8]| format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(der));
    rustls_native_certs::load_native_certs().certs.iter().map(|certificate| pem(certificate)).collect()
}
