//! Certificates that are made for one run of the tests.

use std::env;
use std::fs;
use std::path::PathBuf;

use elasticjob::registry::zookeeper::ZookeeperTls;
use elasticjob_tests::zookeeper::Stores;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd,
};

/// A folder with PEM files, removed when this is dropped.
pub struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    /// Makes all of them: `ca` signs `server` and `client`, the CA `other-ca` that no program trusts signs `stranger`.
    pub fn make() -> Self {
        let folder = env::temp_dir().join(format!("elasticjob-tls-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let made = Self { folder };
        let ca = made.ca("ca");
        let other = made.ca("other-ca");
        let (server, client) = (ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth);
        made.signed("server", &ca, server.clone(), |_| ());
        made.signed("expired-server", &ca, server, |params| params.not_after = date_time_ymd(2020, 1, 2));
        made.signed("client", &ca, client.clone(), |_| ());
        made.signed("stranger", &other, client.clone(), |_| ());
        made.signed("expired", &ca, client.clone(), |params| params.not_after = date_time_ymd(2020, 1, 2));
        made.signed("of-2999", &ca, client, |params| params.not_before = date_time_ymd(2999, 1, 1));
        made
    }

    fn ca(&self, name: &str) -> Issuer<'static, KeyPair> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        self.write(&format!("{name}.pem"), &params.self_signed(&key).unwrap().pem());
        Issuer::new(params, key)
    }

    fn signed(
        &self,
        name: &str,
        ca: &Issuer<'_, KeyPair>,
        usage: ExtendedKeyUsagePurpose,
        change: impl FnOnce(&mut CertificateParams),
    ) {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![usage];
        params.not_before = date_time_ymd(2020, 1, 1);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, ca).unwrap().pem();
        self.write(&format!("{name}.pem"), &certificate);
        self.write(&format!("{name}.key"), &key.serialize_pem());
        self.write(&format!("{name}-pair.pem"), &(certificate + &key.serialize_pem()));
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Where a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What the server has.
    pub fn of_server(&self) -> Stores {
        Stores { own: self.path("server-pair.pem"), trusted: self.path("ca.pem") }
    }

    /// What a client has that trusts the server.
    pub fn nobody(&self) -> ZookeeperTls {
        let mut tls = ZookeeperTls::default();
        tls.trust_store = Some(self.path("ca.pem"));
        tls
    }

    /// The same with the certificate and the key of these names.
    pub fn client(&self, name: &str) -> ZookeeperTls {
        let mut tls = self.nobody();
        tls.client_certificate = Some(self.path(&format!("{name}.pem")));
        tls.client_key = Some(self.path(&format!("{name}.key")));
        tls
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
