//! The defaults of the settings, as the table of settings has them.

use elasticjob_syntax::each_job_setting;

/// One function for each setting whose default is a value. Where the table has words, the setting is empty.
macro_rules! defaults {
    ($($group:ident { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:tt)* }
    )* })*) => {
        $($( default!($field $kind $how $unset); )*)*
    };
}

macro_rules! default {
    ($field:ident $kind:ident words $unset:literal) => {};
    ($field:ident Name value $unset:literal) => { default!(@ $field &'static str, $unset); };
    ($field:ident Flag value $unset:literal) => { default!(@ $field bool, flag($unset)); };
    ($field:ident Number value $unset:literal) => { default!(@ $field i32, number($unset)); };
    (@ $field:ident $type:ty, $value:expr) => {
        pub(super) const fn $field() -> $type {
            const { $value }
        }
    };
}

each_job_setting!(defaults);

const fn flag(text: &str) -> bool {
    match text.as_bytes() {
        b"true" => true,
        b"false" => false,
        _ => panic!("the default in the table of settings is neither true nor false"),
    }
}

const fn number(text: &str) -> i32 {
    match i32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => panic!("the default in the table of settings is not a number"),
    }
}
