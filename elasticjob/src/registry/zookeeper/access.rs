//! The access lists of the namespace's nodes.

use zookeeper_client::{Acl, Acls, AuthId, Client, Permission};

use super::ZookeeperConfiguration;
use crate::log::{apart, warn};

/// What everyone who reaches the servers can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenTo {
    /// Nothing of what this registry center creates.
    None,
    /// The namespace is closed. What this registry center creates in it is open, as there is no digest.
    Created,
    /// The namespace is open, and older than the digest.
    Namespace,
    /// The namespace is open, and what is created in it too.
    All,
}

/// The access list of every node that this library creates.
pub(super) fn acls(config: &ZookeeperConfiguration) -> Acls<'static> {
    if config.digest.is_some() { Acls::creator_all() } else { Acls::anyone_all() }
}

/// Reads the access list of the namespace, and warns, once for a registry center, when everyone can change it or what is
/// created in it. Returns whether that is so. A namespace whose list cannot be read counts as the settings say.
pub(super) async fn is_open(config: &ZookeeperConfiguration, client: &Client) -> bool {
    let (servers, namespace) = (config.server_lists.clone(), config.namespace.clone());
    let is_guarded = config.digest.is_some();
    let read = tokio::time::timeout(config.connection_timeout(), client.get_acl("/")).await;
    let open = match read.map_err(|_| "no answer".to_owned()).and_then(|read| read.map_err(|why| why.to_string())) {
        Ok((acls, _)) => open_to(is_guarded, &acls),
        Err(error) => {
            let (servers, namespace) = (servers.clone(), namespace.clone());
            apart(move || {
                warn!(
                    %error,
                    "the access list of namespace '{namespace}' of ZooKeeper at '{servers}' could not be read, so it is not \
                     known whether the namespace is open: look with getAcl whether world:anyone may change it \
                     (docs/security.md)"
                );
            });
            if is_guarded { OpenTo::None } else { OpenTo::All }
        }
    };
    if let Some(what) = told(open) {
        apart(move || warn!("namespace '{namespace}' of ZooKeeper at '{servers}' {what} (docs/security.md)"));
    }
    open != OpenTo::None
}

fn open_to(is_guarded: bool, namespace: &[Acl]) -> OpenTo {
    match (is_guarded, namespace.iter().any(is_for_everyone)) {
        (true, false) => OpenTo::None,
        (false, false) => OpenTo::Created,
        (true, true) => OpenTo::Namespace,
        (false, true) => OpenTo::All,
    }
}

fn is_for_everyone(acl: &Acl) -> bool {
    let changes = [Permission::WRITE, Permission::CREATE, Permission::DELETE, Permission::ADMIN];
    acl.auth_id() == &AuthId::anyone() && changes.into_iter().any(|change| acl.permission().has(change))
}

/// What a user has to know and to do.
fn told(open: OpenTo) -> Option<&'static str> {
    match open {
        OpenTo::None => None,
        OpenTo::Created => Some(
            "is closed, but everyone who reaches the server can change the jobs that this program creates in it, as this \
             registry center has no digest: set digest to user:password, and run setAcl -R for what is there",
        ),
        OpenTo::Namespace => Some(
            "was created without digest and is open to everyone, and so may be what is in it: run setAcl -R for it, or use \
             a new namespace",
        ),
        OpenTo::All => Some(
            "is open: everyone who reaches the server can change and trigger its jobs; set digest of this registry center \
             to user:password, with a new namespace, or setAcl -R for the old one",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everyone(permission: Permission) -> Acl {
        Acl::new(permission, AuthId::anyone())
    }

    #[test]
    fn the_access_list_of_the_namespace_counts_beside_the_digest() {
        let user = Acl::new(Permission::ALL, AuthId::new("digest", "user:hash"));
        for closed in [vec![user.clone()], vec![user.clone(), everyone(Permission::READ)], vec![]] {
            assert_eq!(open_to(true, &closed), OpenTo::None, "{closed:?}");
            assert_eq!(open_to(false, &closed), OpenTo::Created, "{closed:?}");
        }
        let changes = [Permission::WRITE, Permission::CREATE, Permission::DELETE, Permission::ADMIN, Permission::ALL];
        for open in changes.map(|change| [user.clone(), everyone(change)]) {
            assert_eq!(open_to(true, &open), OpenTo::Namespace, "{open:?}");
            assert_eq!(open_to(false, &open), OpenTo::All, "{open:?}");
        }
    }

    #[test]
    fn each_warning_says_what_is_open_and_what_to_do() {
        assert_eq!(told(OpenTo::None), None);
        for (open, said) in [
            (OpenTo::Created, "is closed, but"),
            (OpenTo::Namespace, "was created without digest"),
            (OpenTo::All, "is open"),
        ] {
            let told = told(open).unwrap();
            assert!(told.starts_with(said) && told.contains("setAcl -R"), "{told}");
        }
    }
}
