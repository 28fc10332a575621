//! Values of properties and variables whose names mean a secret, and credentials in those that are addresses: they are shown
//! masked, and a mask that comes back means the value that is kept.

use std::collections::BTreeMap;

use elasticjob::operations::is_secret_key;
use serde_json::Value;

use super::app::shown;

/// What is shown in the place of a secret.
pub(super) const MASK: &str = "***";

/// The fields of registrations with texts by name.
const FIELDS: [&str; 2] = ["props", "env"];

/// The field with an address, which may have credentials.
const ADDRESS: &str = "appURL";

/// Masks the secrets among texts by name.
pub(crate) fn mask(texts: &mut BTreeMap<String, String>) {
    for (name, value) in texts {
        *value = shown_as(name, value);
    }
}

/// A value as it is shown: of an address with a user, that user and what may be credentials are masked.
fn shown_as(name: &str, value: &str) -> String {
    let address = shown(value);
    match is_secret_key(name) {
        true => MASK.to_owned(),
        false if address.contains(&format!("://{MASK}@")) => address,
        false => value.to_owned(),
    }
}

/// Masks the credentials of an address.
pub(crate) fn mask_address(address: &mut String) {
    *address = shown(address);
}

/// A change of a registration with the secrets of the old one in the place of masks.
pub(crate) fn unmasked(old: &Value, mut change: Value) -> Value {
    if let Some(kept) = old.get(ADDRESS).and_then(Value::as_str)
        && change.get(ADDRESS).and_then(Value::as_str) == Some(shown(kept).as_str())
    {
        change[ADDRESS] = kept.into();
    }
    for field in FIELDS {
        let Some(texts) = change.get_mut(field).and_then(Value::as_object_mut) else { continue };
        for (name, value) in texts {
            let kept = old.get(field).and_then(|texts| texts.get(name)?.as_str());
            if let Some(kept) = kept.filter(|kept| *value == shown_as(name, kept)) {
                *value = kept.into();
            }
        }
    }
    change
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mask_that_comes_back_is_the_secret_that_is_kept() {
        let mut shown =
            BTreeMap::from([("DB_PASSWORD".to_owned(), "s3cret".to_owned()), ("MODE".to_owned(), "fast".to_owned())]);
        let old = json!({ "env": shown.clone(), "props": { "token": "t" } });
        mask(&mut shown);
        assert_eq!(
            shown,
            BTreeMap::from([("DB_PASSWORD".to_owned(), "***".to_owned()), ("MODE".to_owned(), "fast".to_owned())])
        );
        let change = json!({ "env": { "DB_PASSWORD": "***", "MODE": "***", "NEW_TOKEN": "***" }, "cpuCount": 1 });
        let expected = json!({ "env": { "DB_PASSWORD": "s3cret", "MODE": "***", "NEW_TOKEN": "***" }, "cpuCount": 1 });
        assert_eq!(unmasked(&old, change), expected);
        let other = json!({ "env": { "DB_PASSWORD": "other" } });
        assert_eq!(unmasked(&old, other.clone()), other);
    }

    #[test]
    fn an_address_that_comes_back_masked_is_the_one_that_is_kept() {
        let old = json!({ "appURL": "https://user:pass@host/a.tar?sig=s#sha256=1" });
        let change = json!({ "appURL": "https://***@host/a.tar?***#sha256=1", "cpuCount": 1 });
        let expected = json!({ "appURL": "https://user:pass@host/a.tar?sig=s#sha256=1", "cpuCount": 1 });
        assert_eq!(unmasked(&old, change), expected);
        let other = json!({ "appURL": "https://host/b.tar" });
        assert_eq!(unmasked(&old, other.clone()), other);
    }
}
