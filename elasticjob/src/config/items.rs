//! Parameters of sharding items: `0=Beijing,1=Shanghai`.

use std::collections::BTreeMap;
use std::fmt;

use crate::ident::ShardingItem;

/// Why item parameters cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemParameterError {
    /// A part is not `item=text`.
    #[error("'{part}' is not of the form item=text, for example 0=Beijing,1=Shanghai")]
    Syntax {
        /// The part.
        part: String,
    },
    /// The item is not a number.
    #[error("'{item}' in '{part}' is not a number of an item")]
    Number {
        /// The part.
        part: String,
        /// What should be a number.
        item: String,
    },
    /// The same item twice.
    #[error("item {item} is given twice")]
    Repeated {
        /// The item.
        item: ShardingItem,
    },
    /// There is no such item.
    #[error("there is no item {item}: the items are 0 to {last}")]
    OutOfRange {
        /// The item.
        item: ShardingItem,
        /// The last item there is.
        last: ShardingItem,
    },
}

/// Parameters of items, and the text they were read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemParameters {
    text: Box<str>,
    parameters: BTreeMap<ShardingItem, Box<str>>,
}

impl ItemParameters {
    /// Reads parameters that somebody gives in code or in a file.
    ///
    /// Blanks around items and texts do not count, and a comma may end the list.
    ///
    /// # Errors
    /// [`ItemParameterError`], also for a repeated item and one that does not exist.
    pub fn parse(text: &str, total: u32) -> Result<Self, ItemParameterError> {
        let mut parameters = BTreeMap::new();
        for pair in pairs(text) {
            let (item, value) = pair?;
            if item >= total {
                return Err(ItemParameterError::OutOfRange { item, last: total.saturating_sub(1) });
            }
            if parameters.insert(item, value.into()).is_some() {
                return Err(ItemParameterError::Repeated { item });
            }
        }
        Ok(Self { text: text.into(), parameters })
    }

    /// Reads parameters as the registry has them: as Java does, the last one of a repeated item counts, and those of
    /// items that do not exist are left alone.
    ///
    /// # Errors
    /// [`ItemParameterError`] where Java would fail at each fire.
    pub fn parse_leniently(text: &str) -> Result<Self, ItemParameterError> {
        let parameters =
            pairs(text).map(|pair| pair.map(|(item, value)| (item, value.into()))).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), parameters })
    }

    /// The parameter of an item.
    pub fn get(&self, item: ShardingItem) -> Option<&str> {
        self.parameters.get(&item).map(AsRef::as_ref)
    }

    /// The text they were read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ItemParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn pairs(text: &str) -> impl Iterator<Item = Result<(ShardingItem, &str), ItemParameterError>> {
    let text = text.strip_suffix(',').unwrap_or(text);
    let parts = if text.is_empty() { None } else { Some(text.split(',')) };
    parts.into_iter().flatten().map(|part| {
        let syntax = || ItemParameterError::Syntax { part: part.to_owned() };
        let (item, value) = part.split_once('=').ok_or_else(syntax)?;
        let (item, value) = (item.trim(), value.trim());
        if item.is_empty() || value.is_empty() || value.contains('=') {
            return Err(syntax());
        }
        let number =
            item.parse().map_err(|_| ItemParameterError::Number { part: part.to_owned(), item: item.to_owned() })?;
        Ok((number, value))
    })
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
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("0", "'0' is not of the form"),
            ("0=", "'0=' is not of the form"),
            ("0=a=b", "'0=a=b' is not of the form"),
            (" ", "' ' is not of the form"),
            ("0=a,,1=b", "'' is not of the form"),
            ("x=a", "'x' in 'x=a' is not a number"),
            ("0=a,0=b", "item 0 is given twice"),
            ("2=a", "there is no item 2: the items are 0 to 1"),
        ] {
            let error = ItemParameters::parse(text, 2).unwrap_err().to_string();
            assert!(error.starts_with(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_registry_is_read_as_java_reads_it() {
        let items = ItemParameters::parse_leniently("0=a,0=b,7=c").unwrap();
        assert_eq!(items.get(0), Some("b"));
        assert!(ItemParameters::parse_leniently("0=").is_err());
    }
}
