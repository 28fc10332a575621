//! Trust in mail servers: by a certificate of the system or of a file, or without any check.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use lettre::transport::smtp::client::{Certificate, TlsParameters};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::CERTIFICATES;
use crate::api::JobError;
use crate::config::Invalid;

/// More than all certificate authorities of a system have together.
const LONGEST: u64 = 1 << 20;

/// TLS to this host, which trusts the certificates of a file too.
pub(super) fn trusting(host: &str, file: Option<&str>, hosts: Option<&str>) -> Result<TlsParameters, JobError> {
    let mut parameters = TlsParameters::builder(host.to_owned());
    if is_trusted(host, hosts) {
        parameters = parameters.dangerous_accept_invalid_certs(true);
    }
    if let Some(file) = file {
        let certificates = read(file).map_err(|why| JobError::settings(vec![Invalid::prop(CERTIFICATES, why)]))?;
        parameters = parameters.add_root_certificate(certificates);
    }
    Ok(parameters.build()?)
}

/// Whether a host is trusted whatever certificate it shows. `hosts` is `*`, or host names with blanks between them, as
/// JavaMail reads `mail.smtp.ssl.trust`.
pub(super) fn is_trusted(host: &str, hosts: Option<&str>) -> bool {
    let mut hosts = hosts.unwrap_or_default().split_whitespace();
    hosts.any(|trusted| trusted == "*" || trusted.eq_ignore_ascii_case(host))
}

/// The text of a file of a moderate length. The registry center may name it: no pipe is waited for, and no device is read
/// without end.
fn pem_of(file: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is no file with contents of its own"));
    }
    let mut pem = Vec::new();
    let length = File::open(file)?.take(LONGEST + 1).read_to_end(&mut pem)?;
    if length as u64 > LONGEST {
        return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(pem)
}

/// The certificates of a PEM file.
///
/// # Errors
/// The file cannot be read, or has no certificate.
pub(super) fn read(file: &str) -> Result<Certificate, String> {
    let wrong = |why: &str| format!("'{file}': {why}; name a PEM file with the certificates to trust");
    let pem = pem_of(Path::new(file)).map_err(|error| wrong(&error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(wrong("there is no certificate in it")),
        Ok(found) => {
            let mut roots = rustls::RootCertStore::empty();
            let unfit = found.into_iter().find_map(|certificate| roots.add(certificate).err());
            if let Some(error) = unfit {
                return Err(wrong(&error.to_string()));
            }
            Certificate::from_pem(&pem).map_err(|error| wrong(&error.to_string()))
        }
        Err(error) => Err(wrong(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_and_an_endless_file_are_refused() {
        let folder = std::env::temp_dir();
        let long = folder.join(format!("elasticjob-long-{}.pem", std::process::id()));
        fs::write(&long, vec![b'x'; LONGEST as usize + 1]).unwrap();
        let refused = [Path::new("/dev/zero"), &folder, &long].map(|file| read(file.to_str().unwrap()).map(|_| ()));
        fs::remove_file(&long).unwrap();
        for (refused, why) in refused.into_iter().zip(["no file", "no file", "longer than"]) {
            let error = refused.unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
