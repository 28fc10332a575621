//! A text for readers as a code with arguments, of which the English text is made.
//!
//! A program that shows errors in another language makes its own text of the code and the arguments. A crate declares its
//! messages with [`messages!`](crate::messages), and gets a function for each and the list of their codes.

use std::fmt;

/// A text for readers: its English, and the code and the arguments that it was made of.
///
/// ```
/// use elasticjob_syntax::message::Message;
///
/// let own = Message::from("the table is missing");
/// assert_eq!((own.as_str(), own.code()), ("the table is missing", None));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Message(Box<Parts>);

#[derive(Clone, Default, PartialEq, Eq)]
struct Parts {
    code: Option<&'static str>,
    english: String,
    arguments: Vec<(&'static str, Argument)>,
}

/// A value within a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Argument {
    /// A value that is the same in all languages, or a text that only exists in English.
    Text(String),
    /// A message within the message.
    Message(Message),
    /// Several messages, with `; ` between them in English.
    Messages(Vec<Message>),
}

impl Message {
    /// Makes a message, for [`messages!`](crate::messages).
    #[doc(hidden)]
    pub fn of(code: &'static str, english: String, arguments: Vec<(&'static str, Argument)>) -> Self {
        Self(Box::new(Parts { code: Some(code), english, arguments }))
    }

    /// The code, which never changes. `None` for a text that has no message of its own, such as one of a program's own type.
    pub fn code(&self) -> Option<&'static str> {
        self.0.code
    }

    /// The English text.
    pub fn as_str(&self) -> &str {
        &self.0.english
    }

    /// The arguments by their names.
    pub fn arguments(&self) -> &[(&'static str, Argument)] {
        &self.0.arguments
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Message(message) => message.fmt(f),
            Self::Messages(messages) => {
                for (at, message) in messages.iter().enumerate() {
                    let between = if at == 0 { "" } else { "; " };
                    write!(f, "{between}{message}")?;
                }
                Ok(())
            }
        }
    }
}

/// A text without a code, which stays English.
impl From<String> for Message {
    fn from(english: String) -> Self {
        Self(Box::new(Parts { code: None, english, arguments: Vec::new() }))
    }
}

/// A text without a code, which stays English.
impl From<&str> for Message {
    fn from(english: &str) -> Self {
        english.to_owned().into()
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.0.english
    }
}

impl From<Message> for Argument {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl From<Vec<Message>> for Argument {
    fn from(messages: Vec<Message>) -> Self {
        Self::Messages(messages)
    }
}

macro_rules! argument_of {
    ($($value:ty),+) => {
        $(impl From<$value> for Argument {
            fn from(value: $value) -> Self {
                Self::Text(value.to_string())
            }
        })+
    };
}

argument_of!(&str, String, &String, char, u32, usize, i32, i64);

/// Declares messages: for each a function with the arguments, the code and the English text. `CODES` has each code with the
/// names of its arguments.
///
/// ```
/// elasticjob_syntax::messages! {
///     too_large(number, most) = "too-large": "{number} is too large, at most {most} is allowed";
/// }
///
/// let message = too_large(7, 5);
/// assert_eq!(message.as_str(), "7 is too large, at most 5 is allowed");
/// assert_eq!(message.code(), Some("too-large"));
/// assert_eq!(CODES, [("too-large", &["number", "most"][..])]);
/// ```
#[macro_export]
macro_rules! messages {
    ($($name:ident($($argument:ident),*) = $code:literal: $english:literal;)+) => {
        /// The codes of the messages, each with the names of its arguments.
        pub const CODES: &[(&str, &[&str])] = &[$(($code, &[$(stringify!($argument)),*]),)+];

        $(pub(crate) fn $name($($argument: impl Into<$crate::message::Argument>),*) -> $crate::message::Message {
            $(let $argument: $crate::message::Argument = $argument.into();)*
            let english = format!($english, $($argument = $argument),*);
            $crate::message::Message::of($code, english, vec![$((stringify!($argument), $argument)),*])
        })+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    messages! {
        outer(inner, number) = "outer": "{number} times: {inner}";
        plain() = "plain": "nothing";
    }

    #[test]
    fn the_english_is_made_of_the_arguments_and_those_stay_readable() {
        let message = outer(vec![plain(), Message::from("own")], 2);
        assert_eq!(message.to_string(), "2 times: nothing; own");
        assert_eq!(message.code(), Some("outer"));
        let inner = Argument::Messages(vec![plain(), "own".into()]);
        assert_eq!(message.arguments(), [("inner", inner), ("number", Argument::Text("2".to_owned()))]);
        assert_eq!(CODES, [("outer", &["inner", "number"][..]), ("plain", &[])]);
    }
}
