//! Settings and configurations in a form that may be shown: without their secrets.

use std::collections::BTreeMap;
use std::fmt;

use super::job::JobConfiguration;
use crate::secret::{Secret, is_secret_key, mask_document, mask_inside};

/// The value of a setting without the secrets in it.
pub(super) trait Masked {
    fn masked(&self) -> Self;
}

impl Masked for Option<String> {
    fn masked(&self) -> Self {
        self.as_deref().map(mask_inside)
    }
}

impl Masked for Option<Vec<String>> {
    fn masked(&self) -> Self {
        self.as_ref().map(|texts| texts.iter().map(|text| mask_inside(text)).collect())
    }
}

impl Masked for Option<BTreeMap<String, String>> {
    fn masked(&self) -> Self {
        let value = |key: &str, text| if is_secret_key(key) { Secret::MASK.to_owned() } else { mask_inside(text) };
        self.as_ref().map(|props| props.iter().map(|(key, text)| (key.clone(), value(key, text))).collect())
    }
}

macro_rules! never_secret {
    ($($type:ty),*) => {
        $(impl Masked for Option<$type> {
            fn masked(&self) -> Self {
                *self
            }
        })*
    };
}

never_secret!(bool, u32, i32);

// It shows the settings, which are masked: so a text that is added here later cannot be shown unmasked by mistake.
impl fmt::Debug for JobConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobConfiguration")
            .field("name", &self.name)
            .field("settings", &self.settings())
            .field("extra", &self.extra.as_deref().map(mask_document))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::wire;
    use crate::ident::JobName;

    #[test]
    fn a_configuration_shows_neither_its_secrets_nor_those_that_java_left_in_it() {
        let yaml = "shardingTotalCount: 1\njobParameter: token=hunter2\nprops:\n  email.password: hunter2\n  email.username: reports\n\
                    jobExtraConfigurations:\n- !!org.a.B\n  password: hunter2\n  url: jdbc:mysql://sa:hunter2@db/x\n";
        let job = JobName::new("settle").unwrap();
        let reading = wire::read(&job, yaml.as_bytes()).unwrap();
        let shown = format!("{reading:?} {:#?}", reading.configuration);
        for part in ["settle", "reports", "org.a.B"] {
            assert!(shown.contains(part), "{shown}");
        }
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
