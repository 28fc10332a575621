//! Random expressions: all forms of the dialect, and now and then a slip of the pen.

use elasticjob::testing::rng::Rng;

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// One of so many expressions has a slip.
const SLIPS: u64 = 12;

/// What a slip may put there.
const SIGNS: &[u8] = b"0123456789*?/-,LW#MONFRI ";

/// What a field takes.
struct Field {
    least: u64,
    most: u64,
    /// Names of the values, the first of them that of the least.
    names: &'static [&'static str],
    wraps: bool,
}

/// An expression, and whether it was spoilt.
pub(super) fn random(rng: &mut Rng) -> (String, bool) {
    let plain = |most| Field { least: 0, most, names: &[], wraps: true };
    let month = Field { least: 1, most: 12, names: &MONTHS, wraps: true };
    let (day, weekday) =
        if rng.one_in(2) { (day_of_month(rng), "?".to_owned()) } else { ("?".to_owned(), day_of_week(rng)) };
    let mut fields =
        vec![plain(59).random(rng), plain(59).random(rng), plain(23).random(rng), day, month.random(rng), weekday];
    if rng.one_in(4) {
        fields.push(Field { least: 1995, most: 2099, names: &[], wraps: false }.random(rng));
    }
    let text = fields.join(" ");
    if rng.one_in(SLIPS) { (slip(rng, text), true) } else { (text, false) }
}

fn day_of_month(rng: &mut Rng) -> String {
    let day = rng.between(1, 32);
    match rng.below(10) {
        0 => "L".to_owned(),
        1 => format!("L-{}", rng.between(1, 31)),
        2 => "LW".to_owned(),
        3 => format!("L-{}W", rng.between(1, 31)),
        4 | 5 => format!("{day}W"),
        _ => Field { least: 1, most: 31, names: &[], wraps: true }.random(rng),
    }
}

fn day_of_week(rng: &mut Rng) -> String {
    let number = rng.between(1, 8);
    let day = if rng.one_in(2) { number.to_string() } else { rng.pick(&DAYS).to_owned() };
    match rng.below(8) {
        0 => "L".to_owned(),
        1 | 2 => format!("{day}L"),
        3 | 4 => format!("{day}#{}", rng.between(1, 6)),
        _ => Field { least: 1, most: 7, names: &DAYS, wraps: true }.random(rng),
    }
}

impl Field {
    fn random(&self, rng: &mut Rng) -> String {
        match rng.below(8) {
            0 | 1 => "*".to_owned(),
            2 => format!("{}/{}", rng.pick(&["*", ""]), self.step(rng)),
            3 | 4 => self.value(rng),
            _ => (0..rng.between(1, 4)).map(|_| self.member(rng)).collect::<Vec<_>>().join(","),
        }
    }

    fn member(&self, rng: &mut Rng) -> String {
        let first = self.number(rng);
        match rng.below(6) {
            0 | 1 => self.range(rng, first),
            2 => format!("{}/{}", self.range(rng, first), self.step(rng)),
            3 => format!("{first}/{}", self.step(rng)),
            _ => self.value(rng),
        }
    }

    fn range(&self, rng: &mut Rng, first: u64) -> String {
        let second = self.number(rng);
        let (from, to) = if self.wraps { (first, second) } else { (first.min(second), first.max(second)) };
        match self.names {
            names if !names.is_empty() && rng.one_in(3) => {
                let name = |number: u64| names[(number - self.least) as usize];
                format!("{}-{}", name(from), name(to))
            }
            _ => format!("{from}-{to}"),
        }
    }

    fn value(&self, rng: &mut Rng) -> String {
        match self.names {
            names if !names.is_empty() && rng.one_in(3) => rng.pick(names).to_owned(),
            _ => self.number(rng).to_string(),
        }
    }

    fn number(&self, rng: &mut Rng) -> u64 {
        rng.between(self.least, self.most + 1)
    }

    fn step(&self, rng: &mut Rng) -> u64 {
        rng.below((self.most - self.least).min(31) + 1)
    }
}

/// One character lost, changed or added.
fn slip(rng: &mut Rng, text: String) -> String {
    let mut bytes = text.into_bytes();
    let at = rng.below(bytes.len() as u64) as usize;
    let sign = rng.pick(SIGNS);
    match rng.below(3) {
        0 => drop(bytes.remove(at)),
        1 => bytes[at] = sign,
        _ => bytes.insert(at, sign),
    }
    String::from_utf8(bytes).expect("expressions are ASCII")
}
