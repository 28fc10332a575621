//! Parameters of sharding items: `0=Beijing,1=Shanghai`.
//!
//! Commas separate the parts. Blanks around items and parameters do not count, and the list may end with one comma, as
//! in the Java release. A parameter can contain neither `=` nor `,`.

use std::collections::BTreeSet;
use std::fmt;

use crate::message::Message;
use crate::texts;

/// Parameters of items that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemParameterError {
    /// There is nothing between two commas.
    Blank,
    /// A part has no `=`.
    NoEquals {
        /// The part.
        part: String,
    },
    /// The item is not a number.
    Number {
        /// The part.
        part: String,
        /// The text that should be a number.
        item: String,
    },
    /// There is nothing after the `=`.
    NoParameter {
        /// The item.
        item: u32,
    },
    /// A part has several `=`.
    ManyEquals {
        /// The part.
        part: String,
    },
    /// The same item is given twice.
    Repeated {
        /// The item.
        item: u32,
    },
    /// The item does not exist.
    OutOfRange {
        /// The item.
        item: u32,
        /// How many items there are.
        total: u32,
    },
}

impl ItemParameterError {
    /// The message: what is wrong, and what to write instead.
    pub fn message(&self) -> Message {
        match self {
            Self::Blank => texts::parameters_blank(),
            Self::NoEquals { part } => texts::parameters_no_equals(part),
            Self::Number { part, item } => texts::parameters_number(part, item),
            Self::NoParameter { item } => texts::parameters_no_parameter(*item),
            Self::ManyEquals { part } => texts::parameters_many_equals(part),
            Self::Repeated { item } => texts::parameters_repeated(*item),
            Self::OutOfRange { item, total: 0 | 1 } => texts::parameters_one_item(*item),
            Self::OutOfRange { item, total } => texts::parameters_out_of_range(*item, total - 1),
        }
    }
}

impl fmt::Display for ItemParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// The parts of a text, each read by itself: the number of an item and its parameter.
pub fn parts(text: &str) -> impl Iterator<Item = Result<(u32, &str), ItemParameterError>> {
    let text = text.strip_suffix(',').unwrap_or(text);
    let parts = (!text.is_empty()).then(|| text.split(','));
    parts.into_iter().flatten().map(|part| read(part.trim()))
}

/// As [`parts`]. It also refuses an item that is given twice, and an item that is not below the total, where the total
/// is known.
pub fn checked(text: &str, total: Option<u32>) -> impl Iterator<Item = Result<(u32, &str), ItemParameterError>> {
    let mut seen = BTreeSet::new();
    parts(text).map(move |part| {
        let (item, parameter) = part?;
        if !seen.insert(item) {
            return Err(ItemParameterError::Repeated { item });
        }
        match total {
            Some(total) if item >= total => Err(ItemParameterError::OutOfRange { item, total }),
            _ => Ok((item, parameter)),
        }
    })
}

fn read(part: &str) -> Result<(u32, &str), ItemParameterError> {
    if part.is_empty() {
        return Err(ItemParameterError::Blank);
    }
    let Some((item, parameter)) = part.split_once('=') else {
        return Err(ItemParameterError::NoEquals { part: part.to_owned() });
    };
    let (item, parameter) = (item.trim(), parameter.trim());
    // In Java items are signed 32-bit numbers.
    let Some(item) = item.parse::<u32>().ok().filter(|item| i32::try_from(*item).is_ok()) else {
        return Err(ItemParameterError::Number { part: part.to_owned(), item: item.to_owned() });
    };
    if parameter.is_empty() {
        return Err(ItemParameterError::NoParameter { item });
    }
    if parameter.contains('=') {
        return Err(ItemParameterError::ManyEquals { part: part.to_owned() });
    }
    Ok((item, parameter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, total: Option<u32>) -> Vec<String> {
        checked(text, total).filter_map(|part| part.err().map(|error| error.to_string())).collect()
    }

    #[test]
    fn parameters_of_some_or_all_items_are_fine() {
        for text in ["0=Beijing,1=Shanghai,2=Guangzhou", " 2 = Guangzhou , 0=Beijing ,", "", ",", "1=a:b;c"] {
            assert_eq!(problems(text, Some(3)), Vec::<String>::new(), "{text}");
        }
        assert_eq!(problems("7=x", None), Vec::<String>::new());
        let read: Vec<_> = checked(" 0 = Beijing ,1=上海,", Some(2)).map(Result::unwrap).collect();
        assert_eq!(read, [(0, "Beijing"), (1, "上海")]);
    }

    #[test]
    fn each_part_that_is_wrong_is_named() {
        for (text, problem) in [
            ("0=a,,1=b", "a part is blank"),
            ("0=a, ", "a part is blank"),
            (" ", "a part is blank"),
            ("0", "'0' has no '='"),
            ("a=b", "'a' in 'a=b' is not the number of an item"),
            ("-1=b", "'-1' in '-1=b' is not the number"),
            ("4294967295=b", "is not the number"),
            ("0= ", "item 0 has a blank parameter"),
            ("0=a=b", "'0=a=b' has more than one '='"),
            ("0=a,0=b", "item 0 is given twice"),
            ("3=a", "there is no item 3: the items are 0 to 2"),
        ] {
            let told = problems(text, Some(3));
            assert_eq!(told.len(), 1, "{text}: {told:?}");
            assert!(told[0].contains(problem), "{text}: {told:?}");
        }
        assert_eq!(problems("0,x=1,9=c", Some(1)).len(), 3);
    }
}
