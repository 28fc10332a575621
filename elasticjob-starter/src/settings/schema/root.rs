//! All settings below `elasticjob`.

use super::names::{GROUPS, JOBS, REG_CENTERS, TOKENS, TRACINGS, USERS};
use super::tracing::{NAMED_TRACING, TRACING};
use super::{JOB, Kind, Schema, Setting};

pub(in super::super) static ROOT: Schema = Schema::Section(&[
    Setting::value("enabled", Kind::Flag, "Whether jobs are started at all.").default("true").example("true"),
    Setting::section("config", "Which files are read.", Schema::Section(CONFIG)),
    Setting::section("profiles", "Profiles, each with files of its own.", Schema::Section(PROFILES)),
    Setting::section("reg-center", "The registry center.", Schema::Section(REG_CENTER)),
    Setting::section("reg-centers", "Other registry centers by name.", Schema::Named(&REG_CENTERS, REG_CENTER)),
    Setting::section("jobs", "The jobs by name.", Schema::Named(&JOBS, JOB)),
    Setting::section("preferred", "Which address names this instance.", Schema::Section(PREFERRED)),
    Setting::section("shutdown", "How the program ends.", Schema::Section(SHUTDOWN)),
    Setting::section("tracing", "Where runs are traced to.", Schema::Section(TRACING)),
    Setting::section(
        "tracings",
        "Other places where runs are traced to, by name.",
        Schema::Named(&TRACINGS, NAMED_TRACING),
    ),
    Setting::section("dump", "The port that gives dumps of jobs.", Schema::Section(DUMP)),
    Setting::section("console", "The web console.", Schema::Section(CONSOLE)),
    Setting::section(
        "console-oidc",
        "Logins of the console with the accounts of a company, by OpenID Connect.",
        Schema::Section(CONSOLE_OIDC),
    ),
    Setting::section(
        "console-groups",
        "What the members of groups of a company may do, by group.",
        Schema::Named(&GROUPS, CONSOLE_GROUP),
    ),
    Setting::section("console-users", "The users of the console by name.", Schema::Named(&USERS, CONSOLE_USER)),
    Setting::section("console-tokens", "The tokens of programs by name.", Schema::Named(&TOKENS, CONSOLE_TOKEN)),
    Setting::section("metrics", "The port that Prometheus scrapes.", Schema::Section(METRICS)),
]);

const CONFIG: &[Setting] = &[Setting::value(
    "location",
    Kind::Text,
    "The file, or the folder, to read instead of the usual places. Not in files themselves.",
)
.otherwise("`./`, `./config/`, then the folder of the package under `cargo run`")
.example("/etc/settle/application.yaml")
.not_in_files()];

const PROFILES: &[Setting] = &[Setting::value(
    "active",
    Kind::List,
    "The profiles whose files `application-{profile}.*` are laid over the base file; later ones win.",
)
.otherwise("none")
.example("production,berlin")];

const REG_CENTER: &[Setting] = &[
    Setting::value("server-lists", Kind::List, "The ZooKeeper servers, `host:port`.")
        .otherwise("the embedded registry of this process: N copies of the program run everything N times")
        .example("zk1:2181,zk2:2181"),
    Setting::value("namespace", Kind::Text, "The node below which the jobs are kept; may contain `/`.")
        .otherwise("required with `server-lists`")
        .example("settle"),
    Setting::value(
        "base-sleep-time-milliseconds",
        Kind::Whole { from: 1, to: i32::MAX as i64, unit: "milliseconds" },
        "The first pause between two attempts to connect; later ones grow.",
    )
    .default("1000")
    .example("500"),
    Setting::value(
        "max-sleep-time-milliseconds",
        Kind::from_zero("milliseconds"),
        "The longest pause between two attempts to connect.",
    )
    .default("3000")
    .example("5000"),
    Setting::value(
        "max-retries",
        Kind::Whole { from: 1, to: 29, unit: "" },
        "The first connect is given up after this times the longest pause.",
    )
    .default("3")
    .example("5"),
    Setting::value(
        "session-timeout-milliseconds",
        Kind::from_zero("milliseconds"),
        "When the servers end the session of an instance that is silent, and others take over; 0 for the default.",
    )
    .default("60000")
    .example("20000"),
    Setting::value(
        "connection-timeout-milliseconds",
        Kind::from_zero("milliseconds"),
        "How long one attempt to connect may take; 0 for the default.",
    )
    .default("15000")
    .example("5000"),
    Setting::value(
        "digest",
        Kind::Secret,
        "`user:password` of the scheme `digest`; then only this user has access to what is created. Never shown.",
    )
    .otherwise("everyone has access")
    .example("settle:${ZK_PASSWORD:}"),
    Setting::section("tls", "TLS to the servers.", Schema::Section(TLS)),
];

const TLS: &[Setting] = &[
    Setting::value(
        "enabled",
        Kind::Flag,
        "Whether all servers are reached with TLS, on their `secureClientPort`. The certificate of a server has to be of a \
         trusted CA and for the name in `server-lists`. Needs the cargo feature `zookeeper-tls`.",
    )
    .otherwise("`true` where one of the files below is set")
    .example("true"),
    Setting::value("trust-store", Kind::Text, "PEM file with the certificates of the CAs to trust.")
        .otherwise("the CAs that the system trusts")
        .example("/etc/settle/zookeeper-ca.pem"),
    Setting::value(
        "client-certificate",
        Kind::Text,
        "PEM file with the certificate of this program, for servers that ask for one; then those between it and its CA.",
    )
    .otherwise("none")
    .example("/etc/settle/settle.pem"),
    Setting::value("client-key", Kind::Text, "PEM file with the private key of that certificate, without a passphrase.")
        .otherwise("required with `client-certificate`")
        .example("/etc/settle/settle.key"),
];

const PREFERRED: &[Setting] =
    &[Setting::section("network", "Which address names this instance.", Schema::Section(NETWORK))];

const NETWORK: &[Setting] = &[
    Setting::value("interface", Kind::Text, "The interface whose address names the instance; one that is not there, is down or has no such address is an error.")
        .otherwise("any")
        .example("lo"),
    Setting::value(
        "ip",
        Kind::Text,
        "The begin of that address, or a regular expression such as `192\\.168\\..*`.",
    )
    .otherwise("the first IPv4 address, on a host without one the first global IPv6 address")
    .example("127."),
];

const SHUTDOWN: &[Setting] = &[Setting::value(
    "grace",
    Kind::Duration,
    "How long running items may go on after SIGTERM or Ctrl-C before they are cut off. One that does not heed that is \
     dropped 5 s later, or sooner where the session time-out is short: 1.2 s later with 10 s. Container platforms kill after \
     30 seconds unless told otherwise: give them 10 s more than this.",
)
.default("25s")
.example("2m")];

const DUMP: &[Setting] = &[
    Setting::value("enabled", Kind::Flag, "Whether the port is opened where `port` is set.")
        .default("true")
        .example("true"),
    Setting::value("port", Kind::Whole { from: 0, to: 65_535, unit: "" }, "The port; 0 for any that is free.")
        .otherwise("no dump port")
        .example("9888"),
    Setting::value(
        "address",
        Kind::Ip,
        "The address to listen on. Anyone who reaches the port can read the configurations of all jobs, with their \
         secrets masked and addresses hidden.",
    )
    .default("127.0.0.1")
    .example("0.0.0.0"),
];

const METRICS: &[Setting] = &[
    Setting::value(
        "port",
        Kind::Whole { from: 0, to: 65_535, unit: "" },
        "The port that serves `/metrics`; 0 for any that is free. Needs the cargo feature `metrics`.",
    )
    .otherwise("no metrics port")
    .example("9464"),
    Setting::value(
        "address",
        Kind::Ip,
        "The address to listen on. Anyone who reaches the port can read the names of all jobs, and how they run.",
    )
    .default("127.0.0.1")
    .example("0.0.0.0"),
    Setting::value(
        "max-jobs",
        Kind::Whole { from: 1, to: 1_000_000, unit: "" },
        "How many jobs have time series of their own. The others are counted together, as the job `_other`.",
    )
    .default("5000")
    .example("500"),
];

const CONSOLE: &[Setting] = &[
    Setting::value(
        "port",
        Kind::Whole { from: 0, to: 65_535, unit: "" },
        "The port of the console in the program of the jobs; 0 for any that is free. Needs the cargo feature `console`. \
         `elasticjob console` listens on 8899 without it.",
    )
    .otherwise("no console")
    .example("8899"),
    Setting::value(
        "address",
        Kind::Ip,
        "The address to listen on. One that other hosts reach needs `console-users`, `console-oidc`, `proxy-user-header` or `data`.",
    )
    .default("127.0.0.1")
    .example("0.0.0.0"),
    Setting::value(
        "base-path",
        Kind::Text,
        "The path before all others, where the console stands behind a proxy that forwards this path to it.",
    )
    .otherwise("none")
    .example("/jobs"),
    Setting::value("read-only", Kind::Flag, "Makes the console read-only: no user may change anything, whatever the roles say.")
        .default("false")
        .example("true"),
    Setting::value(
        "require-reason",
        Kind::Flag,
        "Insists on a reason: no user disables, shuts down, removes, changes a configuration or cancels without one. Carried jobs are \
         left out, as their API takes no reasons.",
    )
    .default("false")
    .example("true"),
    Setting::value("language", Kind::Text, "The language for browsers that ask for no language of the console: `en` or `zh-CN`.")
        .default("en")
        .example("zh-CN"),
    Setting::value(
        "secure-cookies",
        Kind::Flag,
        "Whether browsers send the cookie of a session by HTTPS alone: set it where a proxy in front of the console has a \
         certificate.",
    )
    .default("false")
    .example("true"),
    Setting::value(
        "trusted-proxies",
        Kind::List,
        "The addresses of proxies in front of the console, or ranges of them. Their `X-Forwarded-For` says where a client is; \
         that of others is not read.",
    )
    .otherwise("the address of a client is that of its connection")
    .example("127.0.0.1,10.0.0.0/8"),
    Setting::value(
        "allowed-hosts",
        Kind::List,
        "The names, without a port, by which browsers call the console, beside those of this host and the address that it \
         listens on; behind a trusted proxy these alone. Needed for `anonymous` and `proxy-user-header` alone: users and programs \
         may call it by any name.",
    )
    .otherwise("none")
    .example("jobs.example.com"),
    Setting::value(
        "proxy-user-header",
        Kind::Text,
        "The header in which these proxies say who the caller is. Groups with roles are those of `console-groups`. The proxy has \
         to take the header out of what its clients send.",
    )
    .otherwise("proxies say nothing of callers")
    .example("X-Remote-User"),
    Setting::value("proxy-groups-header", Kind::Text, "The header with the groups of the caller, with commas between.")
        .default("X-Remote-Groups")
        .example("X-Forwarded-Groups"),
    Setting::value(
        "anonymous",
        Kind::Text,
        "The role of visitors who did not log in: `viewer`, `operator`, `editor` or `admin`. One that other hosts can use, because \
         of `address`, is `viewer` at the most.",
    )
    .otherwise("they have to log in")
    .example("viewer"),
    Setting::value(
        "max-streams",
        Kind::Whole { from: 1, to: 100_000, unit: "" },
        "How many streams of events may be open at a time: the tab in front of each reader has one. One more is answered with 503.",
    )
    .default("64")
    .example("500"),
    Setting::value(
        "max-streams-of-caller",
        Kind::Whole { from: 1, to: 100_000, unit: "" },
        "How many of them one user, one token or one address of visitors may have. One more is answered with 429.",
    )
    .default("6")
    .example("20"),
    Setting::value(
        "data",
        Kind::Text,
        "The SQLite file that keeps what has to outlive the console. It is made for its owner alone, and one console at a time \
         uses it. In the program of the jobs it needs the cargo feature `console-data`; `elasticjob console` has it.",
    )
    .otherwise("that is kept in memory")
    .example("/var/lib/settle/console.db"),
];

const CONSOLE_OIDC: &[Setting] = &[
    Setting::value(
        "issuer",
        Kind::Text,
        "The issuer, as its document `/.well-known/openid-configuration` names it. In the program of the jobs it needs the \
         cargo feature `console-oidc`; `elasticjob console` has it.",
    )
    .otherwise("no such login")
    .example("https://id.example.com/realms/staff"),
    Setting::value("client-id", Kind::Text, "The name that the issuer gave the console.")
        .otherwise("required with `issuer`")
        .example("elasticjob-console"),
    Setting::value("client-secret", Kind::Secret, "The secret that the issuer gave the console.")
        .otherwise("a public client: PKCE alone")
        .example("9vXq2Lr8TtWb4KzN"),
    Setting::value(
        "public-url",
        Kind::Text,
        "The address of the console in browsers, with its base path. The issuer has to allow `/login/oidc/callback` below it.",
    )
    .otherwise("required with `issuer`")
    .example("https://jobs.example.com/ops"),
    Setting::value("scopes", Kind::List, "The scopes to ask for.")
        .default("openid,profile,email")
        .example("openid,profile,groups"),
    Setting::value("groups-claim", Kind::Text, "The claim of the ID token that lists the groups of an account.")
        .default("groups")
        .example("roles"),
];

const CONSOLE_GROUP: &[Setting] = &[
    Setting::value(
        "group",
        Kind::Text,
        "The group as the issuer names it, where that cannot be the name of a setting.",
    )
    .otherwise("the name of this section")
    .example("/staff/operations"),
    Setting::value("role", Kind::Text, "What the members may do; the roles are those of users.")
        .otherwise("required")
        .example("operator"),
    Setting::value(
        "registries",
        Kind::Text,
        "For which registry centers the role counts; `*` stands for any characters.",
    )
    .default("*")
    .example("production-*"),
    Setting::value("jobs", Kind::Text, "For which jobs the role counts; `*` stands for any characters.")
        .default("*")
        .example("billing-*"),
];

const CONSOLE_TOKEN: &[Setting] = &[
    Setting::value("token-hash", Kind::Secret, "The hash of the token: what `elasticjob console new-token` writes.")
        .otherwise("required")
        .example("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    Setting::value("role", Kind::Text, "What the program may do; the roles are those of users.")
        .otherwise("required")
        .example("viewer"),
    Setting::value(
        "registries",
        Kind::Text,
        "For which registry centers the role counts; `*` stands for any characters.",
    )
    .default("*")
    .example("production-*"),
    Setting::value("jobs", Kind::Text, "For which jobs the role counts; `*` stands for any characters.")
        .default("*")
        .example("billing-*"),
    Setting::value(
        "expires",
        Kind::Text,
        "From when on the token counts no more: a date, whose end counts in UTC, or a time as RFC 3339.",
    )
    .otherwise("never")
    .example("2027-06-30"),
];

const CONSOLE_USER: &[Setting] = &[
    Setting::value(
        "password-hash",
        Kind::Secret,
        "The hash of the password: what `elasticjob console hash-password` writes.",
    )
    .otherwise("required")
    .example("$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA"),
    Setting::value(
        "role",
        Kind::Text,
        "What the user may do: `viewer` sees, `operator` also triggers, enables and disables, `editor` also changes \
         configurations, `admin` also shuts down and removes.",
    )
    .otherwise("required")
    .example("operator"),
    Setting::value(
        "registries",
        Kind::Text,
        "For which registry centers the role counts; `*` stands for any characters.",
    )
    .default("*")
    .example("production-*"),
    Setting::value("jobs", Kind::Text, "For which jobs the role counts; `*` stands for any characters.")
        .default("*")
        .example("billing-*"),
];
