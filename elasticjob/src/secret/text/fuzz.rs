//! Secrets in their usual formats, at the places where they occur: masking must remove all of them.

use super::*;
use crate::secret::mask_document;

/// A generator of numbers with a seed, so that a failure can be repeated.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn text(&mut self, characters: &str, from: usize, to: usize) -> String {
        let characters: Vec<char> = characters.chars().collect();
        (0..from + self.below(to - from + 1)).map(|_| self.of(&characters)).collect()
    }
}

const ALPHANUMERIC: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789";
const BASE64: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789+/";
const BASE64_URL: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789-_";
const HEX: &str = "0123456789abcdef";

/// A secret without a shape of its own: only its name or its place shows that it is a secret.
fn opaque(chance: &mut Chance) -> String {
    let password = chance.text("!*+.:@^~#%_-", 1, 3);
    let head = chance.text(ALPHANUMERIC, 4, 12);
    match chance.below(6) {
        0 => chance.text(ALPHANUMERIC, 8, 40),
        1 => chance.text(HEX, 32, 64),
        2 => format!("{}==", chance.text(BASE64, 22, 86)),
        3 => format!("{head}{password}{}", chance.text(ALPHANUMERIC, 2, 8)),
        4 => format!("9{}", chance.text("0123456789", 9, 11)),
        _ => chance.text("abcdefghijkmnpqrstuvwxyz", 8, 20),
    }
}

/// A secret that its shape shows, at any place.
fn shaped(chance: &mut Chance) -> String {
    let mut part = |from, to| chance.text(BASE64_URL, from, to);
    let all = [
        format!("eyJ{}.eyJ{}.{}", part(20, 60), part(20, 200), part(43, 86)),
        format!("ejt_{}", chance.text(ALPHANUMERIC, 43, 43)),
        format!("ghp_{}", chance.text(ALPHANUMERIC, 36, 36)),
        format!("glpat-{}", chance.text(ALPHANUMERIC, 20, 20)),
        format!("xoxb-{}-{}", chance.text("0123456789", 12, 12), chance.text(ALPHANUMERIC, 24, 24)),
        format!("sk_live_{}", chance.text(ALPHANUMERIC, 24, 24)),
        format!("AIza{}", chance.text(BASE64_URL, 35, 35)),
    ];
    all[chance.below(all.len())].clone()
}

const NAMES: [&str; 34] = [
    "password",
    "Password",
    "PASSWORD",
    "passwd",
    "pwd",
    "db.password",
    "user_password",
    "spring.datasource.password",
    "token",
    "access_token",
    "refreshToken",
    "X-Auth-Token",
    "api_key",
    "apiKey",
    "X-Api-Key",
    "secret",
    "client_secret",
    "clientSecret",
    "secretAccessKey",
    "AWS_SECRET_ACCESS_KEY",
    "private-key",
    "AccountKey",
    "SharedAccessKey",
    "passphrase",
    "credential",
    "webhook",
    "jwt",
    "id_jwt",
    "session_cookie",
    "signature",
    "pass",
    "DB_PASS",
    "authToken",
    "encryption-secret-key",
];

/// A secret `s` with this name in a text around it.
fn named(chance: &mut Chance, s: &str) -> String {
    let n = chance.of(&NAMES);
    let quote = chance.of(&["\"", "'"]);
    match chance.below(22) {
        0 => format!("GET https://h.example.com/a?all=1&{n}={}&page=2 failed", url(s)),
        1 => format!("http://h/x?{n}={}", url(s)),
        2 => format!(r#"{{"user": "sa", "{n}": "{s}", "a": 1}}"#),
        3 => format!(r#"{{"a":[{{"{n}":"{s}"}}],"b":2}}"#),
        4 => format!(r#""{{\"{n}\": \"{s}\", \"a\": 1}}""#),
        5 => format!("run.sh --{n}={s} --full"),
        6 => format!("run.sh --{n} {quote}{s}{quote} --full"),
        7 => format!("{n}={s} ./run"),
        8 => format!("export {n}={quote}{s}{quote}; run"),
        9 => format!("{n} = {s}"),
        10 => format!("{n}: {s}\nnext: 1"),
        11 => format!("  - {n}: {quote}{s}{quote}"),
        12 => format!("Server=db;User Id=sa;{n}={s};Encrypt=true"),
        13 => format!("curl -H {quote}{n}: {s}{quote} https://h/x"),
        14 => format!("<{n}>{s}</{n}>"),
        15 => format!("config[{quote}{n}{quote}] = {quote}{s}{quote}"),
        16 => format!("{{{n}: {s}, all: 1}}"),
        17 => format!("{n} => {quote}{s}{quote},"),
        18 => format!("boom; request was {{'{n}': '{s}'}}"),
        19 => format!("{n}:={s}"),
        20 => format!("cannot connect (user=sa, {n}={s})"),
        _ => format!(r#"{{"{n}":"{s}"#),
    }
}

/// A secret that only its place shows.
fn placed(chance: &mut Chance, s: &str) -> String {
    let scheme = chance.of(&["http", "https", "jdbc:mysql", "postgres", "amqp", "redis", "mongodb+srv", "ftp"]);
    let port = s.split('/').next().is_some_and(|head| head.len() < 6 && head.bytes().all(|byte| byte.is_ascii_digit()));
    // `sa:80/x@h` may be a host with a port as well: that cannot be decided.
    let s = if port { &format!("p{s}") } else { s };
    match chance.below(19) {
        0 => format!("{scheme}://sa:{s}@db.example.com:5432/x?all=1"),
        1 => format!("cannot reach {scheme}://sa:{s}@h, again in 5 s"),
        2 => format!(r#"{{"url":"{scheme}://sa:{s}@h/x"}}"#),
        3 => format!(r#"{{"url":"{scheme}:\/\/sa:{s}@h\/x"}}"#),
        4 => format!("Authorization: Bearer {}", token(s)),
        5 => format!("curl -H 'Authorization: Basic {}' https://h", token(s)),
        6 => format!("the header was Bearer {}, which is too old", bearer(s)),
        7 => format!(r#"{{"authorization":"Bearer {}"}}"#, token(s)),
        8 => format!("curl -u robot:{s} https://h/x"),
        9 => format!("curl --user 'robot:{s}' https://h/x"),
        10 => format!("mysqldump -u root -p{s} jobs"),
        11 => format!("/usr/bin/mysql -uroot -p'{s}' jobs"),
        12 => format!("sshpass -p {s} ssh host"),
        13 => format!("Cookie: JSESSIONID={}; theme=dark; id={}", token(s), token(s)),
        14 => format!("https://h/robot/send?key={}", url(s)),
        15 => format!("https://a.blob.example.com/x?sv=2022&sig={}&se=2030", url(s)),
        16 => format!("https://h/x?X-Amz-Credential=AKIA&X-Amz-Signature={}", url(s)),
        17 => format!("ALTER USER sa IDENTIFIED BY '{s}'"),
        _ => {
            let (kind, end) = (chance.of(&["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED "]), chance.of(&["\n", "\\n"]));
            format!("-----BEGIN {kind}PRIVATE KEY-----{end}{s}{end}{s}{end}-----END {kind}PRIVATE KEY-----{end}")
        }
    }
}

/// A value of a URL has no unescaped blanks or separators.
fn url(s: &str) -> String {
    s.replace('%', "%25").replace('#', "%23").replace('+', "%2B")
}

fn token(s: &str) -> String {
    s.replace(|c: char| !c.is_ascii_alphanumeric() && !"-._~+/=".contains(c), "x")
}

/// A token that does not look like a word.
fn bearer(s: &str) -> String {
    format!("7{}", token(s))
}

#[test]
fn no_secret_of_a_real_format_is_left_in_any_place() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut leaks = Vec::new();
    for round in 0..60_000 {
        let opaque = opaque(&mut chance);
        let (secret, text) = match chance.below(3) {
            0 => {
                let secret = shaped(&mut chance);
                let text = match chance.below(3) {
                    0 => format!("refused: {secret}"),
                    1 => format!("curl https://h/{secret}/x"),
                    _ => format!("['{secret}', 1]"),
                };
                (secret, text)
            }
            1 => (opaque.clone(), named(&mut chance, &opaque)),
            _ => (opaque.clone(), placed(&mut chance, &opaque)),
        };
        let text = match chance.below(4) {
            0 => format!("2026-08-21 03:00:00 WARN job failed: {text}"),
            1 => format!("错误\n{text}\nthe end"),
            _ => text,
        };
        // A URL or a header may write the secret in another form: the test also searches for that form.
        let forms = [secret.clone(), url(&secret), token(&secret)];
        for masked in [mask_inside(&text), mask_document(&text)] {
            if forms.iter().any(|form| text.contains(form) && masked.contains(form)) {
                leaks.push(format!("round {round}: {text}\n  became {masked}"));
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks[..leaks.len().min(12)].join("\n"));
}

#[test]
fn ordinary_lines_stay_readable() {
    let lines = [
        "0=Beijing,1=Shanghai",
        "invalid token: expected a word",
        "http://h:8080/x?all=1",
        "https://example.com/users/@me?page=2",
        "see https://docs.example.com/a#key=b and mail to ops@example.com",
        r#"{"last":{"attempt":{"term":1},"error":"boom"}}"#,
        "/opt/backup/run.sh --full -v --date 2026-08-21 --user backup",
        "find . -name '*.rs' -print0 -prune -path ./target -type f",
        "ssh -p 22 -u root host ls -la",
        "docker run -p 8080:80 -u 1000:1000 image",
        "mkdir -p /var/lib/jobs && cp -pr a b",
        "gcc -pthread -pedantic -pipe -O2 x.c",
        "pass: 3, fail: 0",
        "3 tests passed, 1 failed; compass points north",
        "the basic authentication of the server failed",
        "Basic Authentication failed",
        "the bearer of bad news; bearer token expired",
        "primary key: id; foreign key: job_id",
        r#"{"key": "value", "id": 7}"#,
        "key=value pairs are separated by commas",
        "instance 10.0.0.1@-@4711 took over item 3",
        "com.acme.TokenService::refresh failed at TokenService.java:42",
        "elasticjob::secret::text panicked at src/secret/text.rs:42:7",
        "jdbc:postgresql://db.example.com:5432/jobs?sslmode=verify-full",
        "registry center zk1:2181,zk2:2181/jobs answered in 12 ms",
        "(using password: YES)",
        "password: null",
        "shardingTotalCount: 3\njobName: settle\nprops:\n  email.host: mail\n  email.to: a@b.c,d@e.f\n",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "错误：第三项失败，时间 03:00:00",
        "2026-08-21T03:00:00+02:00 took 1.5 s; ratio=0.5; a:b:c",
    ];
    let masked: Vec<String> = lines.iter().map(|line| mask_inside(line)).collect();
    assert_eq!(masked, lines);
}

/// Measures the time of this thread for a megabyte of the worst text for a scanner that looks back or ahead.
#[test]
#[cfg(target_os = "linux")]
fn the_cost_of_masking_grows_with_the_length_alone() {
    let spent = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<u64>().ok()).unwrap()
    };
    let shapes = [
        "x",
        "a=b&",
        "://",
        "x://",
        "x://a:b",
        "-p",
        "--password ",
        "password=",
        "password='",
        "\"token\":",
        "{\"token\":[",
        "-----BEGIN ",
        "eyJ",
        "eyJ.",
        "Bearer ",
        "password",
        "password ",
        "://@",
        "'",
        "\\\"",
        "<token>",
        "mysql -p",
        " ",
        "\n",
        "key:",
        "a: ",
        "[\"token\"",
        "identified by ",
        "://a:b@",
        "name: value, ",
        "password: ",
    ];
    for shape in shapes {
        let time = |length: usize| {
            let text = shape.repeat(length / shape.len());
            let begun = spent();
            std::hint::black_box(mask_inside(&text));
            spent() - begun
        };
        let (short, long) = (time(62_500), time(1_000_000));
        // 16 times would be linear; 256 times would be quadratic.
        let limit = short.max(1_000_000) * 60;
        assert!(long < limit, "'{shape}': {short} ns for 62.5 KB and {long} ns for 1 MB");
    }
}
