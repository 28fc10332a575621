//! The messages of carried jobs: what the REST API refuses, and what is wrong with a registration.

elasticjob_syntax::messages! {
    no_such_app(name) = "cloud-no-such-app": "there is no app '{name}'";
    no_such_job(name) = "cloud-no-such-job": "there is no job '{name}'";
    app_secrets(name) =
        "cloud-app-secrets": "the app '{name}' has secrets, and no job that you administer runs it: have an administrator of all jobs register the first one, or name the app as your grant says";
    body_no_json(error) = "cloud-body-no-json": "the body is no JSON: {error}";
    running_of_change(other) =
        "cloud-running-of-change": "running is 'finish' (the default: what runs goes on) or 'stop' (it is stopped), and not '{other}'";
    running_of_stop(other) =
        "cloud-running-of-stop": "running is 'stop' here, and not '{other}': what runs is stopped. To let it finish, pause the job first with `elasticjob disable --job JOB`, and do this when `GET /api/job/tasks/running` has nothing of it";
    job_is_disabled(name) = "cloud-job-is-disabled": "job '{name}' or its app is disabled: enable it first";
    triggered_before(name) =
        "cloud-triggered-before": "job '{name}' was triggered before, and that run has not begun yet: this trigger starts nothing";
    log_item_number() = "cloud-log-item-number": "item is the number of a sharding item, from 0";
    log_process_number() = "cloud-log-process-number": "process is the number of a process of a DAEMON job, from 0";
    log_of_daemon(name) = "cloud-log-of-daemon": "job '{name}' is a DAEMON job, whose processes have the logs: give process=N";
    log_of_transient(name) = "cloud-log-of-transient": "job '{name}' is a TRANSIENT job, whose items have the logs: give item=N";
    no_log_of_process(place, process, name) = "cloud-no-log-of-process": "{place} has no log of process {process} of job '{name}'";
    no_log_of_item(place, item, launch) = "cloud-no-log-of-item": "{place} has no log of item {item} of {launch}";
    item_not_run(item, name) = "cloud-item-not-run": "item {item} of job '{name}' has not run";
    launch_of_another_job(launch, name) = "cloud-launch-of-another-job": "the launch {launch} is not one of job '{name}'";
    no_such_launch(launch) =
        "cloud-no-such-launch": "'{launch}' is no id of a launch: write JOB/scheduled@MILLISECONDS or JOB/manual@0xTRANSACTION@MILLISECONDS";
    not_traced() = "cloud-not-traced": "the scheduler traces to no database: set elasticjob.tracing, and start it again";
    number_out_of_range(name, text, most) = "cloud-number-out-of-range": "{name}: '{text}' is no whole number from 1 to {most}";
    no_such_column(column, columns) = "cloud-no-such-column": "sort: there is no column '{column}': {columns}";
    no_such_order(order) = "cloud-no-such-order": "order: '{order}' is neither ASC nor DESC";
    no_flag(name, text) = "cloud-no-flag": "{name}: '{text}' is neither true nor false";
    none_of(name, text, known) = "cloud-none-of": "{name}: '{text}' is none of {known}";
    no_time(name, text) = "cloud-no-time": "{name}: '{text}' is no time: write 2026-11-24 18:30:00 (UTC) or 2026-11-24T18:30:00+08:00";
    no_such_span(span) =
        "cloud-no-such-span": "there is no span '{span}': the spans are online, lastWeek, last24hours, lastHour and lastMinute";
    app_name_missing() = "cloud-app-name-missing": "appName is missing: /api/operate/sandbox?appName=my_app";
    wrong_method() = "cloud-wrong-method": "the API has this address, and not with this method";
    no_such_address() = "cloud-no-such-address": "there is no such route: /api/openapi.json has all of them";
    body_too_long(most) = "cloud-body-too-long": "the body of the request is longer than {most} bytes";
    foreign_origin() =
        "cloud-foreign-origin": "a page of another origin made the browser send the request: use a page of this address, or a program that is no browser";
    unreadable_request(text) = "cloud-unreadable-request": "the address or the body cannot be read: {text}";
    unauthorized_host() =
        "cloud-unauthorized-host": "Unauthorized: without a login use http://127.0.0.1, or a name of elasticjob.console.allowed-hosts";
    unauthorized() = "cloud-unauthorized": "Unauthorized: POST name and password to /api/login, and send the header accessToken";
    role_needed(role) = "cloud-role-needed": "the role {role} is needed for it";
    login_body(error) = "cloud-login-body": "give {{\"username\": ..., \"password\": ...}}: {error}";
    carrier_failed(action, why) = "cloud-carrier-failed": "the carrier could not {action}: {why}";
    read_states() = "cloud-read-states": "read the states";
    list_launches() = "cloud-list-launches": "list the launches";
    answer_launch() = "cloud-answer-launch": "answer the launch";
    read_log() = "cloud-read-log": "read the log";
    look_at_item() = "cloud-look-at-item": "look at the item";
    look_at_processes() = "cloud-look-at-processes": "look at the processes of the job";
    remove_launch() = "cloud-remove-launch": "remove the folder of the launch";
    remove_packages() = "cloud-remove-packages": "remove packages that are not used";
    app_not_registered(name) = "cloud-app-not-registered": "there is no app '{name}': register it first (POST /api/app)";
    job_not_registered(name) = "cloud-job-not-registered": "there is no job '{name}': register it first (POST /api/job/register)";
    app_exists(name) = "cloud-app-exists": "app '{name}' is registered already: change it with PUT /api/app";
    job_exists(name) = "cloud-job-exists": "job '{name}' is registered already: change it with PUT /api/job/update";
    registration_contended() = "cloud-registration-contended": "others change the same registration again and again: try again";
    parents_unchecked(job, why) = "cloud-parents-unchecked": "the jobs before job '{job}' cannot be looked at: {why}";
    other_carrier(carrier, scheduler, other) =
        "cloud-other-carrier": "this scheduler has the carrier {carrier}, and the scheduler {scheduler} of the same registry center has {other}: a job goes to any of them, so all have the same carrier. Stop the other one first (where it is gone, its session ends by itself), or give this one a registry center of its own: elasticjob.reg-center.namespace, or --namespace";
    other_place(place, scheduler, other) =
        "cloud-other-place": "this scheduler keeps its launches at {place}, and the scheduler {scheduler} of the same registry center at {other}: a job goes to any of them, and neither knows what the other one runs, so all have the same cluster and the same --work. Stop the other one first (where it is gone, its session ends by itself), or give this one a registry center of its own: elasticjob.reg-center.namespace, or --namespace";
    not_kept(path, cause) =
        "cloud-not-kept": "the registration is in force until this process ends, and is not kept: {path} cannot be written: {cause}";
    fields_wrong(fields) = "cloud-fields-wrong": "{fields}";
    field_wrong(field, reason) = "cloud-field-wrong": "{field}: {reason}";
    wrong_value(is, expected) = "cloud-wrong-value": "is {is}: give {expected}";
    a_text_of(text) = "cloud-a-text-of": "the text \"{text}\"";
    quoted(text) = "cloud-quoted": "'{text}'";
    a_list() = "cloud-a-list": "a list";
    an_object() = "cloud-an-object": "an object";
    give_text() = "cloud-give-text": "a text";
    give_flag() = "cloud-give-flag": "true or false";
    give_count(least, most) = "cloud-give-count": "a whole number from {least} to {most}";
    give_count_from(least) = "cloud-give-count-from": "a whole number from {least}";
    give_number() = "cloud-give-number": "a whole number";
    give_amount(least) = "cloud-give-amount": "a number from {least}";
    give_object() = "cloud-give-object": "a JSON object";
    give_texts() = "cloud-give-texts": "an object of texts";
    give_word() = "cloud-give-word": "a word";
    give_type() = "cloud-give-type": "TRANSIENT or DAEMON";
    give_milliseconds() = "cloud-give-milliseconds": "a whole number of milliseconds from 1, as 3600000 for an hour";
    give_dependency() = "cloud-give-dependency": "a text, or {{\"job\", \"when\", \"items\"}}";
    give_dependencies() =
        "cloud-give-dependencies": "a text as \"extract when failed\", or a list of texts and of {{\"job\", \"when\", \"items\"}}";
    missing_text(example) = "cloud-missing-text": "is missing: give for example \"{example}\"";
    missing_number() = "cloud-missing-number": "is missing: give a number";
    missing_name() = "cloud-missing-name": "is missing: it says what is changed";
    below_least(amount, least) = "cloud-below-least": "is {amount}: the least is {least}";
    field_like(known) = "cloud-field-like": "there is no such field: write `{known}`";
    no_such_field(known) = "cloud-no-such-field": "there is no such field: the fields are {known}";
    dependency_part(name) = "cloud-dependency-part": "has `{name}`: the parts are job, when, items";
    dependency_part_type(is, name) = "cloud-dependency-part-type": "has {is} as `{name}`: give a text";
    dependency_no_job() = "cloud-dependency-no-job": "has no `job`: it names the job before this one";
    address_masked(url) = "cloud-address-masked": "'{url}' has the mask of credentials in it: write the credentials";
    address_relative(url) = "cloud-address-relative": "'{url}' has no absolute path: write file:///opt/apps/my_app.tar.gz";
    address_wrong(url, error) = "cloud-address-wrong": "'{url}' is no address: {error}";
    address_unsafe(url) =
        "cloud-address-unsafe": "'{url}' may be changed on its way, and what it has is run: use https, or add #sha256=HEX";
    address_unknown(url) =
        "cloud-address-unknown": "'{url}' is of no known form: use file:///PATH, https://... or oci://REGISTRY/NAME:TAG";
    checksum_wrong(fragment) =
        "cloud-checksum-wrong": "'#{fragment}' is no checksum: write #sha256= and 64 hexadecimal digits, as sha256sum prints them";
    runs_no_image(carrier) = "cloud-runs-no-image": "names an image, and the carrier {carrier} runs none: use file: or https:";
    variable_name() = "cloud-variable-name": "is not the name of a variable: use letters, digits and _";
    variable_of_item() = "cloud-variable-of-item": "is set for each item: use another name";
    variable_nul() = "cloud-variable-nul": "contains a character with the code 0";
    text_too_long(bytes, most) = "cloud-text-too-long": "has {bytes} bytes, and a process is given {most} in one text at most: put it into a file";
    description_too_long(bytes, most) =
        "cloud-description-too-long": "is too long: what a process is told of the job has {bytes} bytes in JSON, of which this field has the most, and it may have {most}: put it where the program reads it";
    daemon_without_cron() = "cloud-daemon-without-cron": "is missing: a DAEMON job schedules by itself";
    daemon_depends() = "cloud-daemon-depends": "is for TRANSIENT jobs: a DAEMON job schedules by itself, by its `cron`";
    disabled_is_switched() =
        "cloud-disabled-is-switched": "is not as the job is now, and a change does not switch it: send POST /api/job/JOB/disable or POST /api/job/JOB/enable";
    instances_of_transient() = "cloud-instances-of-transient": "is for DAEMON jobs: a TRANSIENT one has a process for each item";
    depends_or_cron() =
        "cloud-depends-or-cron": "a job has either `cron` or `dependsOn`: it runs after those jobs, or by its own schedule";
    depends_unequal(job, total, own) =
        "cloud-depends-unequal": "`items same` needs as many items as job '{job}' has: that has {total} and this one {own}; change shardingTotalCount of '{job}' first";
    no_such_setting(known) = "cloud-no-such-setting": "there is no such setting: the settings are {known}";
    name_of_node() = "cloud-name-of-node": "is a node of the registrations in the registry center: use another name";
    app_unusable(why) = "cloud-app-unusable": "the app cannot be used: {why}";
    of_job(name, reason) = "cloud-of-job": "job '{name}': {reason}";
    of_jobs(names, reason) = "cloud-of-jobs": "jobs {names}: {reason}";
    of_more_jobs(names, more, reason) = "cloud-of-more-jobs": "jobs {names} and {more} more: {reason}";
    no_room(needs, total) = "cloud-no-room": "an item and its application need {needs}, and the host has {total}: it would never begin";
    no_room_for_items(items, needs, total) =
        "cloud-no-room-for-items": "a process with {items} items, its share when all processes live, and its application need {needs}, and the host has {total}: it would never begin; give more instances, or need less";
    an_amount(cpus, megabytes) = "cloud-an-amount": "{cpus} CPU and {megabytes} MB";
    process_for_each_item(carrier) = "cloud-process-for-each-item": "{carrier} starts a process for each item: leave it out";
    no_queues(carrier) = "cloud-no-queues": "{carrier} has no queues: leave it out";
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use elasticjob::config::{Message, MessageArgument};

    /// The messages that the pages have in Chinese, by their codes, each with the arguments that its text uses.
    pub(crate) fn chinese() -> BTreeMap<String, BTreeSet<String>> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../console/i18n/zh-CN/elasticjob-console.ftl");
        let text = std::fs::read_to_string(file).unwrap();
        let messages = text.lines().filter_map(|line| line.strip_prefix("message-")?.split_once(" = "));
        let uses = |text: &str| {
            text.split("{ $").skip(1).filter_map(|rest| Some(rest.split_once(' ')?.0.to_owned())).collect()
        };
        messages.map(|(code, text)| (code.to_owned(), uses(text))).collect()
    }

    /// Asserts that a message, and each within it, has a code with a text in Chinese.
    pub(crate) fn assert_chinese(chinese: &BTreeMap<String, BTreeSet<String>>, message: &Message) {
        let is_known = message.code().is_some_and(|code| chinese.contains_key(code));
        assert!(is_known, "{:?} has no text in Chinese: {message}", message.code());
        for (_, argument) in message.arguments() {
            match argument {
                MessageArgument::Message(message) => assert_chinese(chinese, message),
                MessageArgument::Messages(messages) => messages.iter().for_each(|one| assert_chinese(chinese, one)),
                _ => {}
            }
        }
    }

    #[test]
    fn chinese_has_a_text_for_each_message_and_each_text_uses_only_its_arguments() {
        let of_modules = [
            super::CODES,
            #[cfg(feature = "kubernetes")]
            crate::kubernetes::texts::CODES,
            #[cfg(feature = "slurm")]
            crate::slurm::texts::CODES,
        ];
        let chinese = chinese();
        let mut wanted = BTreeSet::new();
        for (code, arguments) in of_modules.into_iter().flatten() {
            assert!(code.starts_with("cloud-"), "{code}");
            let used = chinese.get(*code).unwrap_or_else(|| panic!("{code} is missing"));
            let arguments: BTreeSet<String> = arguments.iter().map(|name| (*name).to_owned()).collect();
            assert!(used.is_subset(&arguments), "{code} uses {used:?} and has {arguments:?}");
            assert!(wanted.insert(*code), "{code} has two meanings");
        }
        let stale = chinese.keys().filter(|code| code.starts_with("cloud-") && !wanted.contains(code.as_str()));
        assert_eq!(stale.collect::<Vec<_>>(), [""; 0], "with all features");
    }
}
