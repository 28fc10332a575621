//! Boxes that come after others, as columns from left to right, with a line from each box to those after it.

use super::Px;

/// The size of a box.
pub(crate) const WIDTH: f64 = 200.0;
pub(crate) const HEIGHT: f64 = 44.0;

/// What is left between two columns, where the lines turn.
const BETWEEN: f64 = 84.0;
/// The least that is left between two boxes of a column.
const APART: f64 = 14.0;
/// The height that a line needs which passes a column.
const LINE: f64 = 6.0;
/// What is left around the picture.
const MARGIN: f64 = 4.0;
/// How long the head of an arrow is.
const HEAD: f64 = 7.0;

/// How often the boxes of the columns are put into the order of those beside them.
const SWEEPS: usize = 8;

/// A picture of boxes and lines.
#[derive(Debug)]
pub(crate) struct Layers {
    pub(crate) width: Px,
    pub(crate) height: Px,
    /// The upper left corners of the boxes, in the order in which the boxes were given.
    pub(crate) boxes: Vec<(Px, Px)>,
    /// In the order in which they were given.
    pub(crate) lines: Vec<Line>,
}

/// A line from a box to one after it.
#[derive(Debug)]
pub(crate) struct Line {
    /// The data of its path.
    pub(crate) path: String,
    /// The data of the path of its head.
    pub(crate) head: String,
    /// The place of its label.
    pub(crate) label: (Px, Px),
    /// It leads back to a column before: it closes a cycle.
    pub(crate) is_back: bool,
}

/// What has a place in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Box(usize),
    /// The line of this number passes.
    Pass(usize),
}

impl Slot {
    fn height(self) -> f64 {
        match self {
            Self::Box(_) => HEIGHT,
            Self::Pass(_) => LINE,
        }
    }
}

/// A slot with the middle of its place.
#[derive(Debug, Clone, Copy)]
struct Placed {
    slot: Slot,
    middle: f64,
}

type Columns = Vec<Vec<Placed>>;

impl Layers {
    /// The picture of so many boxes, with lines from box to box.
    pub(crate) fn of(count: usize, lines: &[(usize, usize)]) -> Self {
        let column = columns_of(count, lines);
        let mut columns = fill(&column, lines);
        let links = links(&column, lines);
        for sweep in 0..SWEEPS {
            order(&mut columns, &links, sweep % 2 == 0);
        }
        columns.iter_mut().for_each(|column| stack(column));
        for sweep in 0..SWEEPS {
            align(&mut columns, &links, sweep % 2 == 0);
        }
        let top = columns.iter().flatten().map(|placed| placed.middle - placed.slot.height() / 2.0);
        let shift = MARGIN - top.fold(f64::INFINITY, f64::min);
        columns.iter_mut().flatten().for_each(|placed| placed.middle += shift);
        let bottom = columns.iter().flatten().map(|placed| placed.middle + placed.slot.height() / 2.0);
        let middle = |slot: Slot| {
            let placed = columns.iter().flatten().find(|placed| placed.slot == slot);
            placed.map_or(0.0, |placed| placed.middle)
        };
        let boxes = (0..count).map(|one| (Px(left(column[one])), Px(middle(Slot::Box(one)) - HEIGHT / 2.0)));
        let drawn = lines.iter().enumerate().map(|(number, &(from, to))| {
            let passes = (column[from] + 1..column[to]).map(|at| (at, middle_of_pass(&columns[at], number)));
            let ends = ((column[from], middle(Slot::Box(from))), (column[to], middle(Slot::Box(to))));
            draw(ends, passes, column[from] >= column[to])
        });
        Self {
            boxes: boxes.collect(),
            lines: drawn.collect(),
            width: Px(left(columns.len()) - BETWEEN + MARGIN),
            height: Px(bottom.fold(0.0, f64::max) + MARGIN),
        }
    }
}

fn left(column: usize) -> f64 {
    MARGIN + column as f64 * (WIDTH + BETWEEN)
}

/// The column of each box: one after those of all boxes that it comes after. Where boxes form a cycle, the first one of them
/// is taken as if it came after none of the others.
fn columns_of(count: usize, lines: &[(usize, usize)]) -> Vec<usize> {
    let mut found: Vec<Option<usize>> = vec![None; count];
    for _ in 0..count {
        let before = |one: usize| lines.iter().filter(move |(_, to)| *to == one).map(|(from, _)| *from);
        let is_ready = |one: &usize| before(*one).all(|from| found[from].is_some());
        let open = || (0..count).filter(|one| found[*one].is_none());
        let Some(next) = open().find(is_ready).or_else(|| open().next()) else { break };
        let column = before(next).filter_map(|from| found[from]).map(|column| column + 1).max();
        found[next] = Some(column.unwrap_or(0));
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

/// The columns with their boxes, and with the lines that pass them.
fn fill(column: &[usize], lines: &[(usize, usize)]) -> Columns {
    let count = column.iter().max().map_or(0, |last| last + 1);
    let mut columns: Columns = vec![Vec::new(); count];
    let mut put = |at: usize, slot: Slot| columns[at].push(Placed { slot, middle: 0.0 });
    (0..column.len()).for_each(|one| put(column[one], Slot::Box(one)));
    for (number, (from, to)) in lines.iter().enumerate() {
        (column[*from] + 1..column[*to]).for_each(|at| put(at, Slot::Pass(number)));
    }
    columns
}

/// The pieces of the lines, each between neighbouring columns: the slot on the left, and that on the right.
fn links(column: &[usize], lines: &[(usize, usize)]) -> Vec<(Slot, Slot)> {
    let mut links = Vec::new();
    for (number, &(from, to)) in lines.iter().enumerate().filter(|(_, (from, to))| column[*from] < column[*to]) {
        let passes = column[to] - column[from] - 1;
        let ways = std::iter::once(Slot::Box(from)).chain(std::iter::repeat_n(Slot::Pass(number), passes));
        let ways: Vec<Slot> = ways.chain([Slot::Box(to)]).collect();
        // The passes of a line are one slot by name: pairs of them say nothing about an order.
        links.extend(ways.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| (pair[0], pair[1])));
    }
    links
}

/// Puts the slots of each column into the order of those that they are linked with on one side.
fn order(columns: &mut Columns, links: &[(Slot, Slot)], is_rightward: bool) {
    for at in 1..columns.len() {
        let (at, beside) = neighbours(columns.len(), at, is_rightward);
        let rank = |slot: Slot| columns[beside].iter().position(|placed| placed.slot == slot);
        let mut keyed: Vec<(f64, Placed)> = columns[at]
            .iter()
            .enumerate()
            .map(|(own, placed)| {
                let ranks: Vec<f64> = linked(placed.slot, links, is_rightward)
                    .filter_map(rank)
                    .map(|rank| (rank as f64 + 0.5) / columns[beside].len() as f64)
                    .collect();
                let own = (own as f64 + 0.5) / columns[at].len() as f64;
                (mean(&ranks).unwrap_or(own), *placed)
            })
            .collect();
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        columns[at] = keyed.into_iter().map(|(_, placed)| placed).collect();
    }
}

/// A column, and the one beside it that it goes by.
fn neighbours(count: usize, at: usize, is_rightward: bool) -> (usize, usize) {
    if is_rightward { (at, at - 1) } else { (count - 1 - at, count - at) }
}

/// What a slot is linked with on the side that a sweep comes from.
fn linked(slot: Slot, links: &[(Slot, Slot)], is_rightward: bool) -> impl Iterator<Item = Slot> {
    let of = move |(from, to): &(Slot, Slot)| match is_rightward {
        true => (*to == slot).then_some(*from),
        false => (*from == slot).then_some(*to),
    };
    // A line that passes several columns stays where it is.
    let own = matches!(slot, Slot::Pass(_)).then_some(slot);
    links.iter().filter_map(of).chain(own)
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Puts the slots of a column below each other, around the line zero.
fn stack(column: &mut [Placed]) {
    let total: f64 = column.iter().map(|placed| placed.slot.height() + APART).sum();
    let mut next = -total / 2.0;
    for placed in column {
        let height = placed.slot.height() + APART;
        placed.middle = next + height / 2.0;
        next += height;
    }
}

/// Moves the slots of each column towards those that they are linked with on one side, in their order.
fn align(columns: &mut Columns, links: &[(Slot, Slot)], is_rightward: bool) {
    for at in 1..columns.len() {
        let (at, beside) = neighbours(columns.len(), at, is_rightward);
        let middle = |slot: Slot| columns[beside].iter().find(|placed| placed.slot == slot).map(|placed| placed.middle);
        let wanted: Vec<f64> = columns[at]
            .iter()
            .map(|placed| {
                let middles: Vec<f64> = linked(placed.slot, links, is_rightward).filter_map(middle).collect();
                mean(&middles).unwrap_or(placed.middle)
            })
            .collect();
        let mut free = f64::NEG_INFINITY;
        for (placed, wanted) in columns[at].iter_mut().zip(&wanted) {
            let half = (placed.slot.height() + APART) / 2.0;
            placed.middle = wanted.max(free + half);
            free = placed.middle + half;
        }
        // What was pushed down for the sake of others goes up again with them, half of the way.
        let pushed: Vec<f64> = columns[at].iter().zip(&wanted).map(|(placed, wanted)| placed.middle - wanted).collect();
        let back = mean(&pushed).unwrap_or(0.0);
        columns[at].iter_mut().for_each(|placed| placed.middle -= back);
    }
}

fn middle_of_pass(column: &[Placed], line: usize) -> f64 {
    column.iter().find(|placed| placed.slot == Slot::Pass(line)).map_or(0.0, |placed| placed.middle)
}

/// Draws a line from the right side of a box, straight through the columns that it passes, to the left side of another.
fn draw(
    ((from, start), (to, end)): ((usize, f64), (usize, f64)),
    passes: impl Iterator<Item = (usize, f64)>,
    is_back: bool,
) -> Line {
    let (mut x, mut y) = (left(from) + WIDTH, start);
    let mut path = format!("M{} {}", Px(x), Px(y));
    for (column, middle) in passes {
        path.push_str(&curve((x, y), (left(column), middle), is_back));
        (x, y) = (left(column) + WIDTH, middle);
        path.push_str(&format!("H{}", Px(x)));
    }
    let tip = left(to);
    path.push_str(&curve((x, y), (tip - HEAD, end), is_back));
    let label = (Px((x + tip - HEAD) / 2.0), Px((y + end) / 2.0));
    Line { path, head: format!("M{} {}l-{HEAD} -4v8z", Px(tip), Px(end)), label, is_back }
}

/// A curve that leaves and arrives level. One that leads back does so on the same sides as the others.
fn curve((x, y): (f64, f64), (to_x, to_y): (f64, f64), is_back: bool) -> String {
    let reach = if is_back { BETWEEN } else { (to_x - x) / 2.0 };
    format!("C{} {} {} {} {} {}", Px(x + reach), Px(y), Px(to_x - reach), Px(to_y), Px(to_x), Px(to_y))
}

#[cfg(test)]
mod tests;
