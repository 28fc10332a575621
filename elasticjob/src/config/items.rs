//! Parameters of sharding items: `0=Beijing,1=Shanghai`.

use std::collections::BTreeMap;
use std::fmt;

use elasticjob_syntax::item_parameters;
pub use elasticjob_syntax::item_parameters::ItemParameterError;

use crate::ident::ShardingItem;

/// Parameters of items, and the text they were read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemParameters {
    text: Box<str>,
    parameters: BTreeMap<ShardingItem, Box<str>>,
}

impl ItemParameters {
    /// Reads parameters that a user gives in code or in a file.
    ///
    /// Blanks around items and texts do not count, and the list may end with a comma.
    ///
    /// # Errors
    /// [`ItemParameterError`], also for a repeated item and for an item that does not exist.
    pub fn parse(text: &str, total: u32) -> Result<Self, ItemParameterError> {
        let parameters = collect(item_parameters::checked(text, Some(total)))?;
        Ok(Self { text: text.into(), parameters })
    }

    /// Reads parameters of the registry, as Java does: of a repeated item the last parameter counts, and parameters of
    /// items that do not exist are ignored.
    ///
    /// # Errors
    /// [`ItemParameterError`] where Java would fail at each fire.
    pub(crate) fn parse_leniently(text: &str) -> Result<Self, ItemParameterError> {
        let parameters = collect(item_parameters::parts(text))?;
        Ok(Self { text: text.into(), parameters })
    }

    /// The parameter of an item.
    pub fn get(&self, item: ShardingItem) -> Option<&str> {
        self.parameters.get(&item).map(AsRef::as_ref)
    }

    /// The text that they were read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ItemParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn collect<'a>(
    parts: impl Iterator<Item = Result<(ShardingItem, &'a str), ItemParameterError>>,
) -> Result<BTreeMap<ShardingItem, Box<str>>, ItemParameterError> {
    parts.map(|part| part.map(|(item, parameter)| (item, parameter.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_their_texts() {
        let items = ItemParameters::parse(" 0 = Beijing ,1=上海,", 2).unwrap();
        assert_eq!((items.get(0), items.get(1), items.get(2)), (Some("Beijing"), Some("上海"), None));
        assert_eq!(ItemParameters::parse("", 2).unwrap().get(0), None);
    }

    #[test]
    fn the_registry_is_read_as_java_reads_it() {
        let items = ItemParameters::parse_leniently("0=a,0=b,7=c").unwrap();
        assert_eq!(items.get(0), Some("b"));
        assert!(ItemParameters::parse_leniently("0=").is_err());
    }
}
