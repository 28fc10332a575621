//! The messages of the console itself: what it refuses.

elasticjob_syntax::messages! {
    not_logged_in() = "not-logged-in": "log in, or send the header `Authorization: Bearer` with a token";
    unknown_token() = "unknown-token": "the console knows no such token";
    expired_token(end) = "expired-token": "the token counted until {end}: ask for another one";
    token_without_owner() =
        "token-without-owner": "the user who made the token has fewer rights now than the token gives: ask for another token";
    role_needed(role) = "role-needed": "the role {role} is needed for this registry center and this job";
    role_needed_read_only(role) =
        "role-needed-read-only": "the role {role} is needed for this registry center and this job; this console is read-only";
    foreign_origin() =
        "foreign-origin": "a page of another origin made the browser send the request: use the pages of this console, or a program that is no browser; behind a proxy, let it pass on the header Host of the browser, with its port";
    no_role() = "no-role": "this user has no role";
    no_role_read_only() = "no-role-read-only": "this user has no role; this console is read-only";
    forbidden_after(job) =
        "forbidden-after": "{job} runs again after it, and the role operator is needed for each such job";
    another_job() = "another-job": "another job";
    no_such_registry(name) = "no-such-registry": "the console has no registry center '{name}'";
    registry_away(why) =
        "registry-away": "the registry center was not reached so far, and is dialled again until it answers: {why}";
    of_registry(name, why) = "of-registry": "registry center '{name}': {why}";
    no_other_registry() = "no-other-registry": "there is no other registry center here that the caller may see";
    same_registry(name) = "same-registry": "'{name}' is this registry center itself: name another one";
    no_such_job_to_see(job) =
        "no-such-job-to-see": "no job '{job}' is among those that are asked for, or the caller may not see it";
    item_unknown(job, item) = "item-unknown": "job '{job}' has no item {item}";
    no_such_run(id) = "no-such-run": "the traces have no run '{id}' of this job: it was removed, or never there";
    no_such_run_to_see(id) =
        "no-such-run-to-see": "the traces have no run '{id}': it was removed, or never there, or the caller may not see its job";
    no_such_version(job, id) =
        "no-such-version": "the console knows no version {id} of the configuration of job '{job}'";
    no_such_server(server) = "no-such-server": "no job that the caller may see knows the server '{server}'";
    no_such_alarm(id) =
        "no-such-alarm": "no alarm '{id}' holds now: it is over, or the caller may not see its job";
    no_such_node(path) = "no-such-node": "the registry center has no node {path} in the namespace";
    not_traced() =
        "not-traced": "the console reads no database of traces: set `elasticjob.tracing` to the one that the jobs write to";
    traces_slow(seconds) =
        "traces-slow": "the database of traces gave no answer within {seconds} s: ask for a shorter time range or for one job, and have its administrator look whether it is busy";
    traces_busy(at, connections, seconds) =
        "traces-busy": "all connections that read {at} are taken ({connections} at most), and none of them became free for this read within {seconds} s: try again later; where this comes again, ask for a shorter time range or for one job, and have the administrator of the database look whether it is busy";
    no_answer_in_time(seconds) = "no-answer-in-time": "no answer within {seconds} s";
    traces_not_reached(at, since, why) =
        "traces-not-reached": "{at} cannot be read: it is away since {since} and is dialled again: {why}";
    traces_away(at, why) = "traces-away": "{at} cannot be read: {why}";
    traces_without_table(at, table) =
        "traces-without-table": "{at} has no table {table}: no program has traced to it so far, or it is another database; see `elasticjob.tracing`";
    traces_without_column(at, table, column) =
        "traces-without-column": "table {table} in {at} has no column {column}, so records cannot be found by it; a program that may alter the table adds it when it starts to trace";
    masked(setting, mask) =
        "masked": "{setting}: the stored value has a secret, shown as {mask}, and the new value would have {mask} in its place: leave the value as it is shown, or change it in the program's settings";
    settings_unreadable(reason) = "settings-unreadable": "the settings cannot be read: {reason}";
    not_a_number(name, value) =
        "not-a-number": "{name}: '{value}' is not a whole number that is possible here";
    not_a_flag(name, value) = "not-a-flag": "{name}: '{value}' is not true or false";
    not_a_property(line) = "not-a-property": "props: '{line}' is not of the form KEY=VALUE";
    wrong_values(problems) = "wrong-values": "{problems}";
    not_previewed() = "not-previewed": "the values are not those of the preview: look at a preview of these, and save again";
    no_action() = "no-action": "the form has no action";
    no_action_or_item() = "no-action-or-item": "the form has no action or no item";
    action_of_item() = "action-of-item": "an item can be enabled, disabled and cancelled";
    range_reversed() =
        "range-reversed": "the time range ends before it begins: `from` must be before `until`";
    range_too_long(days) =
        "range-too-long": "the time range is longer than {days} days: choose a shorter one";
    parameter_unknown(name, known) =
        "parameter-unknown": "`{name}` is no parameter of this address: it has {known}";
    field_wrong(name, reason) = "field-wrong": "`{name}`: {reason}";
    field_one_of(name, values) = "field-one-of": "`{name}` is one of {values}";
    field_time(name) =
        "field-time": "`{name}` is no time: write 2026-11-21T03:00 or 2026-11-21T03:00:00Z";
    field_either(one, other) = "field-either": "`{one}` and `{other}` are both given: leave one of them out";
    field_instant(name) = "field-instant": "`{name}` is no time: write 2026-11-21T03:00:00Z";
    field_time_missing(name) =
        "field-time-missing": "`{name}` is missing: write 2026-11-21T03:00 or 2026-11-21T03:00:00Z";
    field_too_long(name, most) = "field-too-long": "`{name}` has at most {most} characters";
    search_too_long(most) = "search-too-long": "q has more than {most} characters";
    limit_out_of_range(most) = "limit-out-of-range": "limit is from 1 to {most}";
    no_such_status(status, known) = "no-such-status": "'{status}' is no status: {known}";
    no_reason(most) =
        "no-reason": "the console insists on a reason here, and none is given: say why, in 1 to {most} characters";
    reason_too_long(count, most) =
        "reason-too-long": "the reason has {count} characters, and at most {most} are kept";
    too_many_jobs(count, most) =
        "too-many-jobs": "{count} jobs are given, and at most {most} are done at a time";
    expression_too_long(most) = "expression-too-long": "an expression has at most {most} characters";

    not_kept() =
        "not-kept": "the console has no data file that keeps it: start it with --data FILE, or set `elasticjob.console.data`";
    unknown_name(name) = "unknown-name": "there is no '{name}'";
    name_taken(name) = "name-taken": "'{name}' exists already: choose another name";
    of_settings(name) = "of-settings": "'{name}' is in the settings of the console: change it there";
    last_administrator(name) =
        "last-administrator": "'{name}' is the last user who may administer the console: give another user the role admin for everything first";
    account_name(name, longest) =
        "account-name": "'{name}' is no name: it has 1 to {longest} letters, digits, `.`, `_`, `-` and `@`, and begins with a letter or a digit";
    grants(most) = "grants": "give 1 to {most} roles";
    token_without_user(name) =
        "token-without-user": "a token belongs to a user of the console, whose roles it follows, and '{name}' is none: log in as one";
    more_than_owner(name) = "more-than-owner": "the role is more than '{name}' has, who would own the token";
    token_days(most) = "token-days": "a token counts for 1 to {most} days";
    no_password(name) = "no-password": "'{name}' has no password here: change the password where this user logs in";
    users_by_token(name) =
        "users-by-token": "'{name}' is a token, and no token makes, changes or removes a user or sets a password: log in as a user";
    wrong_password() = "wrong-password": "the password that counts now is another one";
    too_many_attempts(seconds) = "too-many-attempts": "too many attempts: try again in {seconds} s";
    login_refused() = "login-refused": "wrong name or password";
    token_refused() = "token-refused": "the token does not count: log in again, or ask for another one";
    session_refused(why) = "session-refused": "no session can begin: {why}";
    read_only() = "read-only": "this console is read-only";
    password_length(least, most, length) =
        "password-length": "a password has {least} to {most} characters, this one has {length}";
    password_no_hash(why) =
        "password-no-hash": "it is not a hash of argon2id ($argon2id$...); `elasticjob console hash-password` makes one: {why}";
    password_not_made(why) = "password-not-made": "the hash of the password cannot be made: {why}";
    data_file() = "data-file": "the data file of the console";
    data_unusable() = "data-unusable": "the data file of the console cannot be used now; its log says why";
    call_failed(path, error) = "call-failed": "{path}: {error}";
    answer_unreadable(path, error) = "answer-unreadable": "the answer of {path} cannot be read: {error}";
    streams_full(most) =
        "streams-full": "{most} streams of events are open, and no more may be: come again later";
    streams_of_caller(most) =
        "streams-of-caller": "the caller has {most} streams of events, and no caller may have more: close one";
}
