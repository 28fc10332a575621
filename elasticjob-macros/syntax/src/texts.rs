//! The messages of this package.

crate::messages! {
    cron_invalid(expression, cause) = "cron-invalid": "cron expression '{expression}' is not valid: {cause}";
    cron_in_field(field, cause) = "cron-in-field": "{field}: {cause}";
    cron_blank(form) = "cron-blank": "it is blank, needed are the fields {form}";
    cron_at_form(example) = "cron-at-form": "Quartz has no '@' short forms, write it out as for example '{example}'";
    cron_five_fields(form) =
        "cron-five-fields": "it has 5 fields, needed are 6 or 7: {form}; is the second missing in front?";
    cron_one_field(form) = "cron-one-field": "it has 1 field, needed are 6 or 7: {form}";
    cron_few_fields(count, form) = "cron-few-fields": "it has {count} fields, needed are 6 or 7: {form}";
    cron_no_day() =
        "cron-no-day": "'?' stands in day-of-month and day-of-week, but one of them must say the day, for example '*'";
    cron_two_days() =
        "cron-two-days": "day-of-month and day-of-week cannot both be given, one of them must be '?'";
    cron_question_mark() =
        "cron-question-mark": "'?' is only for day-of-month and day-of-week, write '*' for every value";
    cron_question_mark_alone() = "cron-question-mark-alone": "'?' must be the whole field";
    cron_empty_list() = "cron-empty-list": "the list has no value";
    cron_last_in_list() = "cron-last-in-list": "'L' cannot be combined with other days in a list";
    cron_two_nth() = "cron-two-nth": "a list can hold only one '#'";
    cron_unexpected(found) = "cron-unexpected": "unexpected '{found}'";
    cron_unexpected_after(found, before) = "cron-unexpected-after": "unexpected '{found}' after '{before}'";
    cron_unexpected_after_last(found) =
        "cron-unexpected-after-last": "unexpected '{found}' after 'L', allowed are 'L', 'L-3', 'LW' and 'L-3W'";
    cron_unexpected_after_range(found) = "cron-unexpected-after-range": "unexpected '{found}' after a range";
    cron_unexpected_after_number(found) = "cron-unexpected-after-number": "unexpected '{found}' after a number";
    cron_years_reversed(from, to) =
        "cron-years-reversed": "the range of years ends before it starts, is '{from}-{to}' meant?";
    cron_nearest_weekday() = "cron-nearest-weekday": "'W' (nearest weekday) is only for day-of-month";
    cron_last_of_week() =
        "cron-last-of-week": "'L' behind a number is only for day-of-week; in day-of-month 'L' comes first, as 'L-3'";
    cron_nth() = "cron-nth": "'#' (nth of the month) is only for day-of-week";
    cron_last_alone() = "cron-last-alone": "'L' alone is Saturday; the last Friday of the month is '6L' or 'FRIL'";
    cron_days_before_last(days) =
        "cron-days-before-last": "{days} days before the last day is too many, at most 30 are allowed";
    cron_nth_number() = "cron-nth-number": "a number from 1 to 5 must follow '#', as in 'FRI#3'";
    cron_not_a_number(word, allowed) = "cron-not-a-number": "'{word}' is not a number, allowed is {allowed}";
    cron_range_of_names(allowed) =
        "cron-range-of-names": "a range that starts with a name must end with one, allowed is {allowed}";
    cron_not_a_name(word, allowed) = "cron-not-a-name": "'{word}' is not a name of this field, allowed is {allowed}";
    cron_end_missing(allowed) = "cron-end-missing": "a number must follow '-', allowed is {allowed}";
    cron_out_of_range(value, allowed) = "cron-out-of-range": "{value} is out of range, allowed is {allowed}";
    cron_number_missing(before) = "cron-number-missing": "a number must follow '{before}'";
    cron_step_too_large(step, most) = "cron-step-too-large": "the step {step} is too large, at most {most} is allowed";
    cron_allowed(from, to) = "cron-allowed": "{from} to {to}";
    cron_allowed_month() = "cron-allowed-month": "1 to 12 or JAN to DEC";
    cron_allowed_day() = "cron-allowed-day": "1 to 7 (1 is Sunday) or SUN to SAT";

    zone_unknown(name) =
        "zone-unknown": "time zone '{name}' is not known: write an IANA name such as 'Asia/Shanghai' or an offset such as 'GMT+08:00'";
    zone_similar(name, similar) = "zone-similar": "time zone '{name}' is not known: did you mean '{similar}'?";
    zone_offset(name) =
        "zone-offset": "time zone '{name}' is not a valid offset: write hours from 0 to 23 and minutes as in 'GMT+8' or 'GMT+08:30'";

    name_invalid(kind, name, reason) = "name-invalid": "{kind} '{name}' is not valid: {reason}";
    name_blank() = "name-blank": "it is blank";
    name_dots() = "name-dots": "'.' and '..' are not allowed in a registry path";
    name_slash() = "name-slash": "'/' separates the nodes of a registry path";
    name_character(character) =
        "name-character": "{character} is not allowed in a registry path, as are all control characters, private characters and those above U+FFEF";
    name_delimiter() = "name-delimiter": "'@-@' separates the parts of a task id";

    parameters_blank() =
        "parameters-blank": "a part is blank: write item=parameter and commas between them, as 0=Beijing,1=Shanghai";
    parameters_no_equals(part) =
        "parameters-no-equals": "'{part}' has no '=': write item=parameter and commas between them, as 0=Beijing,1=Shanghai";
    parameters_number(part, item) =
        "parameters-number": "'{item}' in '{part}' is not the number of an item: items are whole numbers from 0";
    parameters_no_parameter(item) = "parameters-no-parameter": "item {item} has a blank parameter: leave the item out";
    parameters_many_equals(part) =
        "parameters-many-equals": "'{part}' has more than one '=': a parameter can contain neither '=' nor ','";
    parameters_repeated(item) = "parameters-repeated": "item {item} is given twice";
    parameters_one_item(item) = "parameters-one-item": "there is no item {item}: the only item is 0";
    parameters_out_of_range(item, last) = "parameters-out-of-range": "there is no item {item}: the items are 0 to {last}";
}
