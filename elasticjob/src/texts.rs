//! The messages of this library that a console shows: mistakes of a configuration, and refusals of operations.

elasticjob_syntax::messages! {
    count_missing() = "count-missing": "it is missing: set how many items a fire is split into";
    count_zero() = "count-zero": "0 is not possible: a fire has at least 1 item";
    count_too_large(total, most) =
        "count-too-large": "{total} items are more than a registry center lists: at most {most} are possible; have fewer items, of which each does more";
    configuration_too_long(length, most) =
        "configuration-too-long": "the configuration has {length} bytes in the registry center, and at most {most} are read: shorten it";
    cron_never_fires(cron) = "cron-never-fires": "'{cron}' never fires";
    cron_taken_back() =
        "cron-taken-back": "it cannot be taken back: the job would fire no more, and programs that start it by its schedule would not start; to stop it for a time, disable its servers";
    zone_local(reason) =
        "zone-local": "the local time zone cannot be used, set a time zone in the job's configuration or the variable TZ: {reason}";
    depends_or_cron() =
        "depends-or-cron": "a job has either `cron` or `depends-on`: it runs after those jobs, or by its own schedule";
    depends_too_many_items(most, total) =
        "depends-too-many-items": "`items same` is possible with {most} items at most, and the job has {total}";
    depends_not_monitored() =
        "depends-not-monitored": "it needs monitor-execution: only the records tell for which fires it has run";
    depends_comma(text) = "depends-comma": "'{text}': a job whose name has a comma cannot be named here";
    depends_unknown_word(text, word, known) = "depends-unknown-word": "'{text}': there is no '{word}'; known: {known}";
    depends_on_itself(job) = "depends-on-itself": "the job depends on itself: {job} -> {job}";
    depends_twice(job) = "depends-twice": "job '{job}' is given twice: give it once, with one `when`";
    depends_taken_back() =
        "depends-taken-back": "it cannot be taken back: the job would fire no more; to stop it for a time, disable its servers";
    depends_cycle(jobs) =
        "depends-cycle": "these jobs would wait for each other for ever: {jobs}; take one of them out";
    depends_unequal(job, total, own) =
        "depends-unequal": "`items same` needs as many items as job '{job}' has: that has {total} and this one {own}; change sharding-total-count of '{job}' first";
    failover_not_monitored() =
        "failover-not-monitored": "it needs monitor-execution: only marks of running items tell what a crash left";
    listener_twice(name) = "listener-twice": "'{name}' is given twice: a listener is called once for each name";
    balance_not_monitored(strategy) =
        "balance-not-monitored": "{strategy} needs monitor-execution: only the records of runs tell whose turn it is";
    balance_static(strategy) =
        "balance-static": "{strategy} and static-sharding exclude each other: items that stay cannot move on with each fire";
    late_begin_zero() = "late-begin-zero": "0 leaves no time to begin: give seconds from 1, or -1 for no limit";
    property_of_setting(setting) =
        "property-of-setting": "is how the registry center keeps `{setting}`: set that instead";
    property_secret() =
        "property-secret": "it is a secret by its name, and those are not written to the registry center; set it where the program has its settings, in application.yaml or the environment";
    property_permission() =
        "property-permission": "it has no effect in the registry center: only the program can allow that; set it where the program has its settings, in application.yaml or the environment";
    owner_handler() = "owner-handler": "the error handler";
    owner_dataflow() = "owner-dataflow": "a dataflow job";
    owner_type(name) = "owner-type": "a job of type {name}";
    property_missing(owner, example) = "property-missing": "is missing: {owner} needs it, for example {example}";
    property_milliseconds(text) = "property-milliseconds": "'{text}': expected milliseconds, 1 or more";
    property_flag(text) = "property-flag": "'{text}': expected true or false";
    property_port(text) = "property-port": "'{text}': expected a port, 1 to 65535";
    property_addresses(text, error) =
        "property-addresses": "'{text}': expected mail addresses, separated by commas: {error}";
    property_robot(error) = "property-robot": "'***': expected the address of the robot: {error}";
    property_body(method) =
        "property-body": "is not sent with {method}: remove it, or use POST, PUT, PATCH or DELETE";
    property_content_type(text) =
        "property-content-type": "'{text}': expected a content type such as application/json";
    property_uri(error) = "property-uri": "'***': expected an address, http://host/path: {error}";
    property_method(text) = "property-method": "'{text}': expected a method in capitals, such as GET or POST";
    property_command(error) = "property-command": "'***': {error}";
    type_unknown(kind, name, known) = "type-unknown": "there is no {kind} '{name}' in this program; there are {known}";
    type_not_built_in(kind, name, feature, known) =
        "type-not-built-in": "there is no {kind} '{name}' in this program, which is built without the feature `{feature}` of elasticjob or elasticjob-starter; there are {known}";

    storage_file(file) = "storage-file": "SQLite file {file}";
    storage_server(database, name, host, port) = "storage-server": "{database} database {name} at {host}:{port}";
    storage_of_application(database) = "storage-of-application": "the {database} pool of the application";
    storage_no_answer(seconds) = "storage-no-answer": "no answer within {seconds} s";
    storage_not_reached(seconds) =
        "storage-not-reached": "no connection within {seconds} s: it is away, or refuses";

    no_such_job(job) = "no-such-job": "there is no job '{job}' in the namespace";
    no_such_job_near(job, near) =
        "no-such-job-near": "there is no job '{job}' in the namespace; did you mean '{near}'?";
    no_jobs(job) = "no-jobs": "there is no job '{job}' in the namespace; it has none";
    no_such_job_of_many(job, count, names) =
        "no-such-job-of-many": "there is no job '{job}' in the namespace; it has {count}, among them {names}";
    no_such_job_known(job, names) =
        "no-such-job-known": "there is no job '{job}' in the namespace; known: {names}";
    no_configuration(job) =
        "no-configuration": "job '{job}' has no configuration in the registry center: it is written when an instance starts";
    no_match_of_job(job, what) = "no-match-of-job": "nothing was done: job '{job}' has no {what}";
    no_match_at(server, what) = "no-match-at": "nothing was done: no job has any {what} at '{server}'";
    no_match_of_job_at(job, server, what) =
        "no-match-of-job-at": "nothing was done: job '{job}' has no {what} at '{server}'";
    no_items_yet(job, item) =
        "no-items-yet": "job '{job}' has no item {item}; it has none yet: they are made at the first assignment";
    no_such_item_of_one(job, item) = "no-such-item-of-one": "job '{job}' has no item {item}; it has item 0 alone";
    no_such_item(job, item, last) = "no-such-item": "job '{job}' has no item {item}; its items are 0 to {last}";
    not_triggered_offline(job) =
        "not-triggered-offline": "nothing was triggered: no instance of job '{job}' is online; start one";
    not_triggered_disabled(job) =
        "not-triggered-disabled": "nothing was triggered: the servers of all instances of job '{job}' are disabled; enable one";
    not_triggered_carried(job) =
        "not-triggered-carried": "nothing was triggered: the registration of the carried job '{job}', or its application, is disabled; enable it at a scheduler: POST /api/job/{job}/enable";
    not_triggered_server_offline(target) =
        "not-triggered-server-offline": "nothing was triggered: no instance is online on {target}; start one";
    not_triggered_server_disabled(target) =
        "not-triggered-server-disabled": "nothing was triggered: {target} is disabled; enable it";
    target_server(server) = "target-server": "server '{server}' in all jobs";
    target_server_of_job(server, job) = "target-server-of-job": "server '{server}' of job '{job}'";
    runs_of_job(job) = "runs-of-job": "job '{job}'";
    runs_of_item(item, job) = "runs-of-item": "item {item} of job '{job}'";
    not_cancelled_idle(what) =
        "not-cancelled-idle": "nothing was cancelled: {what} does not run at the moment";
    not_cancelled_unmonitored(job) =
        "not-cancelled-unmonitored": "nothing was cancelled: monitor-execution of job '{job}' is off, so the registry center does not know what runs; shut its instances down instead";
    not_cancelled_java(what) =
        "not-cancelled-java": "nothing was cancelled: {what} is run by the Java instance, which knows of no cancellation";
    not_cancelled_java_on(what, instance) =
        "not-cancelled-java-on": "nothing was cancelled: {what} is run by the Java instance {instance}, which knows of no cancellation";
    not_rerun_no_fires_before(job, at) =
        "not-rerun-no-fires-before": "nothing was run again: job '{job}' has no fire at {at}, and none before";
    not_rerun_no_such_fire(job, at, nearest) =
        "not-rerun-no-such-fire": "nothing was run again: job '{job}' has no fire at {at}; nearest: {nearest}";
    not_rerun_no_fire_known(job, at) =
        "not-rerun-no-fire-known": "nothing was run again: job '{job}' runs after other jobs, and the registry center knows of no fire of it yet, so not of {at}";
    not_rerun_unknown_fire(job, at, known) =
        "not-rerun-unknown-fire": "nothing was run again: job '{job}' runs after other jobs, and the registry center does not know of a fire at {at}; it knows {known}";
    not_rerun_not_allowed(job) =
        "not-rerun-not-allowed": "nothing was run again: a job that runs after job '{job}' may not be run again by this user, and it would run with it";
    not_rerun_not_yet(job, at) =
        "not-rerun-not-yet": "nothing was run again: the fire of job '{job}' at {at} is to come";
    not_rerun_no_fires(job) =
        "not-rerun-no-fires": "nothing was run again: job '{job}' has no fires: it has neither a schedule nor jobs before it; trigger it instead";
    not_rerun_unmonitored(job) =
        "not-rerun-unmonitored": "nothing was run again: monitor-execution of job '{job}' is off, so the registry center keeps no records of its fires; trigger it instead";
    not_rerun_trigger_waits(job, instance) =
        "not-rerun-trigger-waits": "nothing was run again: a manual trigger of job '{job}' waits for {instance}, which takes one at a time; try again when it has begun";
    not_rerun_follower_behind(job, after) =
        "not-rerun-follower-behind": "nothing was run again: job '{after}', which runs after job '{job}', has as many re-runs to follow as it can keep; try again when it has begun some of them";
    not_rerun_a_follower_behind(job) =
        "not-rerun-a-follower-behind": "nothing was run again: a job that runs after job '{job}' has as many re-runs to follow as it can keep; try again when it has begun some of them";
    not_rerun_unusable(job, reason) =
        "not-rerun-unusable": "nothing was run again: the configuration of job '{job}' in the registry center cannot be used: {reason}";
    instance_online(job, instances) =
        "instance-online": "job '{job}' was not removed: an instance is online ({instances}); shut them down first, or force it";
    instances_online(job, instances) =
        "instances-online": "job '{job}' was not removed: instances are online ({instances}); shut them down first, or force it";
    wrong_setting(setting, reason) = "wrong-setting": "{setting}: {reason}";
    configuration_invalid(job, problems) =
        "configuration-invalid": "the configuration of job '{job}' was not changed: {problems}";
    carried_job(job) =
        "carried-job": "the configuration of job '{job}' was not changed: it is a carried job, and its registration would be written over the change; change the registration instead, with `PUT /api/job/update` of a scheduler of `elasticjob cloud`, or on the page of the registered job";
    problems(problems) = "problems": "{problems}";
    wire_syntax(reason) = "wire-syntax": "it cannot be read as YAML: {reason}";
    wire_type(key, value, expected) = "wire-type": "{key}: '{value}' is not {expected}";
    wire_kind(key, found, expected) = "wire-kind": "{key}: there is {found} where {expected} belongs";
    wire_block(key) =
        "wire-block": "{key}: it cannot be told apart from the rest of the document; write one key a line, the block indented below its key, without references to other parts";
    a_flag() = "a-flag": "true or false";
    a_number() = "a-number": "a whole number that is possible here";
    a_number_of_seconds() = "a-number-of-seconds": "a whole number of seconds, from 1 or -1";
    a_single_value() = "a-single-value": "a single value";
    a_list_of_types() = "a-list-of-types": "a list of type names";
    a_map_of_settings() = "a-map-of-settings": "a map of settings";
    a_map_of_properties() = "a-map-of-properties": "a map of properties";
    configuration_unreadable(job, reason) =
        "configuration-unreadable": "the configuration of job '{job}' in the registry center cannot be used: {reason}";
    changed_meanwhile(job) =
        "changed-meanwhile": "the configuration of job '{job}' was not changed: another operator or program changed it meanwhile; read it again";
    contended(done) = "contended": "{done} done, and no more: others changed the same nodes again and again; try again";
    done_then(done, reason) = "done-then": "{done} done, then: {reason}";
    read_refused(path, reason) = "read-refused": "the registry center refused to read {path}: {reason}";
    no_answer(why) = "no-answer": "the registry center gave no answer: {why}";
    connection_lost() = "connection-lost": "the connection is lost";
    session_ended() = "session-ended": "the session has ended";
    no_session() = "no-session": "there is no session";
    made_for_ended_session(session, live) =
        "made-for-ended-session": "it was made for session {session}, which has ended; the session is {live} now";
    center_closed() = "center-closed": "the registry center is closed";
    request_given_up() = "request-given-up": "the request was given up before its answer came";
    earlier_request(why) = "earlier-request": "an earlier request got {why}";
    away_since(since, why) = "away-since": "it is away since {since} and is dialled again: {why}";
    center_silent(milliseconds) = "center-silent": "no answer within {milliseconds} ms";
    refusal_no_node() = "refusal-no-node": "there is no such node";
    refusal_node_exists() = "refusal-node-exists": "the node exists";
    refusal_version() = "refusal-version": "the node has another version";
    refusal_children() = "refusal-children": "the node has children";
    refusal_ephemeral() = "refusal-ephemeral": "an ephemeral node cannot have children";
    refusal_no_auth() =
        "refusal-no-auth": "the access list of the node forbids it: check the digest of the registry center";
    refusal_acl() =
        "refusal-acl": "the server does not accept the access list of the new node: check the digest of the registry center";
    refusal_arguments() = "refusal-arguments": "the path or the size of the data is not accepted";
    write_refused(index, path, reason) =
        "write-refused": "the registry center refused operation {index} of the transaction, on {path}: {reason}";
    write_not_reached(why) = "write-not-reached": "the transaction did not reach the registry center: {why}";
    write_unknown(why) = "write-unknown": "the answer to the transaction got lost: {why}";
    connect_invalid(problems) = "connect-invalid": "the registry center is not configured: {problems}";
    connect_unreachable(servers, milliseconds, detail) =
        "connect-unreachable": "no ZooKeeper server of server-lists '{servers}' could be used within {milliseconds} ms, which is max-sleep-time-milliseconds times max-retries: {detail}";
    connect_no_namespace(servers, namespace) =
        "connect-no-namespace": "ZooKeeper at '{servers}' has no namespace '{namespace}': correct it; the first instance of a job creates it";
    connect_other_digest(servers, what, namespace) =
        "connect-other-digest": "ZooKeeper at '{servers}' does not let this client {what} namespace '{namespace}': digest is not the one it was created with";
    connect_no_digest(servers, what, namespace) =
        "connect-no-digest": "ZooKeeper at '{servers}' does not let this client {what} namespace '{namespace}': set digest to the user:password that created it";
    connect_digest_refused(servers) =
        "connect-digest-refused": "ZooKeeper at '{servers}' refused the digest, or does not know the scheme digest";
    connect_too_old(servers) =
        "connect-too-old": "ZooKeeper at '{servers}' is older than 3.6, which is the first version with recursive watches: update it";
    connect_failed(servers, what, namespace, why) =
        "connect-failed": "ZooKeeper at '{servers}' did not let this client {what} namespace '{namespace}': {why}";
    of_server(server, finding) = "of-server": "{server}: {finding}";
    servers_silent() = "servers-silent": "no answer; start it, or correct server-lists";
    server_not_found(error) = "server-not-found": "the name is not found, {error}: correct server-lists";
    server_not_reached(error) = "server-not-reached": "{error}: start it, or correct server-lists";
    server_slow_tls() =
        "server-slow-tls": "TLS is agreed on, but it opens no session in time: if it is a ZooKeeper, look at its log; else correct server-lists";
    server_slow() = "server-slow": "it is a ZooKeeper, but opens no session in time: look at its log";
    server_without_quorum() =
        "server-without-quorum": "it is a ZooKeeper without a quorum: start the other servers of the ensemble";
    server_with_tls() =
        "server-with-tls": "this port is one with TLS: set tls.enabled: true, and tls.trust-store where the CA of its certificate is not one of the system; or name the clientPort of the server";
    server_closes() =
        "server-closes": "something listens, but ends the connection: if this is the secureClientPort of ZooKeeper, set tls.enabled: true; else correct server-lists";
    server_is_another() =
        "server-is-another": "something listens, but does not answer as ZooKeeper does: correct server-lists";
    tls_plain_port() =
        "tls-plain-port": "this port is one without TLS: name the secureClientPort of the server in server-lists, or set tls.enabled: false";
    tls_fails(error) = "tls-fails": "TLS fails: {error}";
    tls_other_name(host, why) =
        "tls-other-name": "its certificate is not for '{host}' ({why}): write the name of the certificate in server-lists, or give the server a certificate for '{host}'";
    tls_expired(at) = "tls-expired": "its certificate expired at {at}: renew it on the server";
    tls_not_yet(at) =
        "tls-not-yet": "its certificate is not valid before {at}: mend the clock of this host, or that of the host which made it";
    tls_revoked() = "tls-revoked": "its certificate is revoked: give the server another one";
    tls_other_authority(file) =
        "tls-other-authority": "its certificate is not of a CA in tls.trust-store '{file}': add the certificate of the CA that signed it to this file, if this is your server";
    tls_unknown_authority() =
        "tls-unknown-authority": "its certificate is not of a CA that this system trusts: name a PEM file with the CA that signed it in tls.trust-store, if this is your server";
    tls_certificate(error) = "tls-certificate": "its certificate cannot be used: {error}";
    tls_versions(answer) =
        "tls-versions": "it refuses TLS 1.2 and 1.3 ({answer}): set ssl.enabledProtocols of the server to TLSv1.2,TLSv1.3";
    tls_wants_certificate(answer) =
        "tls-wants-certificate": "it refuses this client ({answer}), which showed no certificate: set tls.client-certificate and tls.client-key to one of a CA that the server trusts";
    tls_refuses_certificate(file, answer) =
        "tls-refuses-certificate": "it refuses the certificate of this client in tls.client-certificate '{file}' ({answer}): name one of a CA that the server trusts, or add its CA to ssl.trustStore.location of the server";
    tls_closed_with_certificate(error) =
        "tls-closed-with-certificate": "it ended the handshake without a reason ({error}): the port is one without TLS, or it does not trust the CA of tls.client-certificate; its log says which";
    tls_closed_without_certificate(error) =
        "tls-closed-without-certificate": "it ended the handshake without a reason ({error}): the port is one without TLS, or it wants a certificate of this client (tls.client-certificate and tls.client-key); its log says which";
}
