//! Parameters of sharding items: `0=Beijing,1=Shanghai`.

use std::collections::BTreeSet;

/// Everything that is wrong with the parameters of the items, `total` of which there are when that is known here.
///
/// What is right here is what the library reads at start, which writes the text to the registry as it is given.
pub fn check(parameters: &str, total: Option<u32>) -> Vec<String> {
    // One comma at the end is fine, as in the Java release; a blank behind it is not there either.
    let parameters = parameters.strip_suffix(',').unwrap_or(parameters);
    if parameters.is_empty() {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let parts = parameters.split(',');
    parts.filter_map(|part| check_part(part.trim(), total, &mut seen).err()).collect()
}

fn check_part(part: &str, total: Option<u32>, seen: &mut BTreeSet<u32>) -> Result<(), String> {
    let form = "write `item=parameter` and commas between them, as `0=Beijing,1=Shanghai`";
    if part.is_empty() {
        return Err(format!("a part is blank: {form}"));
    }
    let Some((item, parameter)) = part.split_once('=') else {
        return Err(format!("`{part}` has no `=`: {form}"));
    };
    let number = item.trim().parse::<u32>().ok().filter(|item| i32::try_from(*item).is_ok());
    let Some(item) = number else {
        return Err(format!("`{part}` names no item: `{}` is not a whole number from 0", item.trim()));
    };
    if parameter.trim().is_empty() {
        return Err(format!("item {item} has a blank parameter: leave the item out"));
    }
    if parameter.contains('=') {
        return Err(format!("`{part}` has more than one `=`: a parameter can contain neither `=` nor `,`"));
    }
    if !seen.insert(item) {
        return Err(format!("item {item} has two parameters"));
    }
    match total {
        Some(total) if item >= total => {
            let items =
                if total == 1 { "the only item is 0".to_owned() } else { format!("items are 0 to {}", total - 1) };
            Err(format!("there is no item {item}: `sharding_total_count` is {total}, {items}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_some_or_all_items_are_fine() {
        for parameters in ["0=Beijing,1=Shanghai,2=Guangzhou", " 2 = Guangzhou , 0=Beijing ,", "", ",", "1=a:b;c"] {
            assert_eq!(check(parameters, Some(3)), Vec::<String>::new(), "{parameters}");
        }
        assert_eq!(check("7=x", None), Vec::<String>::new());
    }

    #[test]
    fn each_part_that_is_wrong_is_named() {
        for (parameters, problem) in [
            ("0=a,,1=b", "a part is blank"),
            ("0=a, ", "a part is blank"),
            (" ", "a part is blank"),
            ("0", "`0` has no `=`"),
            ("a=b", "`a` is not a whole number"),
            ("-1=b", "`-1` is not a whole number"),
            ("4294967295=b", "is not a whole number"),
            ("0= ", "item 0 has a blank parameter"),
            ("0=a=b", "more than one `=`"),
            ("0=a,0=b", "item 0 has two parameters"),
            ("3=a", "there is no item 3: `sharding_total_count` is 3, items are 0 to 2"),
        ] {
            let problems = check(parameters, Some(3));
            assert_eq!(problems.len(), 1, "{parameters}: {problems:?}");
            assert!(problems[0].contains(problem), "{parameters}: {problems:?}");
        }
        assert_eq!(check("0,x=1,9=c", Some(1)).len(), 3);
    }
}
