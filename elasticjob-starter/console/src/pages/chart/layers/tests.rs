use super::*;

/// Whether two boxes have a part in common.
fn overlap(one: (Px, Px), other: (Px, Px)) -> bool {
    (one.0.0 - other.0.0).abs() < WIDTH && (one.1.0 - other.1.0).abs() < HEIGHT
}

fn assert_sound(drawn: &Layers) {
    for (number, one) in drawn.boxes.iter().enumerate() {
        assert!(one.0.0 >= 0.0 && one.1.0 >= 0.0, "box {number} is at {one:?}");
        assert!(one.0.0 + WIDTH <= drawn.width.0 && one.1.0 + HEIGHT <= drawn.height.0, "box {number} is at {one:?}");
        assert!(drawn.boxes[..number].iter().all(|other| !overlap(*one, *other)), "box {number} lies on another one");
    }
}

#[test]
fn one_box_is_a_picture_of_its_own_size() {
    let drawn = Layers::of(1, &[]);
    assert_eq!((drawn.width, drawn.height), (Px(WIDTH + 2.0 * MARGIN), Px(HEIGHT + 2.0 * MARGIN)));
    assert_sound(&drawn);
    assert!(Layers::of(0, &[]).boxes.is_empty());
}

#[test]
fn a_box_stands_right_of_all_that_it_comes_after_and_a_line_goes_around_those_between() {
    let drawn = Layers::of(3, &[(0, 1), (1, 2), (0, 2)]);
    let lefts: Vec<f64> = drawn.boxes.iter().map(|(x, _)| x.0).collect();
    assert_eq!(lefts, [0, 1, 2].map(left));
    assert_sound(&drawn);
    let (_, between) = drawn.boxes[1];
    let pass = drawn.lines[2].path.split_once('H').expect("it passes a column").0;
    let pass: f64 = pass.rsplit(' ').next().and_then(|y| y.parse().ok()).expect("a place");
    assert!(pass < between.0 || pass > between.0 + HEIGHT, "the line passes at {pass}, the box is at {between:?}");
}

#[test]
fn a_chain_is_a_straight_line() {
    let chain: Vec<(usize, usize)> = (1..60).map(|one| (one - 1, one)).collect();
    let drawn = Layers::of(60, &chain);
    assert!(drawn.boxes.windows(2).all(|pair| pair[0].1 == pair[1].1 && pair[0].0 < pair[1].0), "{:?}", drawn.boxes);
    assert_sound(&drawn);
}

#[test]
fn lines_do_not_cross_where_they_need_not() {
    let drawn = Layers::of(6, &[(0, 5), (1, 4), (2, 3)]);
    let height = |one: usize| drawn.boxes[one].1.0;
    assert!(height(0) < height(1) && height(1) < height(2));
    assert!(height(5) < height(4) && height(4) < height(3), "{:?}", drawn.boxes);
    assert_sound(&drawn);
}

#[test]
fn a_cycle_has_a_line_that_leads_back() {
    let drawn = Layers::of(3, &[(0, 1), (1, 2), (2, 0)]);
    assert_eq!(drawn.lines.iter().map(|line| line.is_back).collect::<Vec<_>>(), [false, false, true]);
    assert_sound(&drawn);
}

#[test]
fn sixty_boxes_in_many_columns_lie_beside_each_other() {
    // Each comes after the halves of its number: a fan of six columns, with lines that skip columns.
    let mut lines: Vec<(usize, usize)> = (1..60).map(|one| ((one - 1) / 2, one)).collect();
    lines.extend([(0, 40), (0, 59), (3, 50)]);
    assert_sound(&Layers::of(60, &lines));
    let fan: Vec<(usize, usize)> = (1..60).map(|one| (0, one)).collect();
    let drawn = Layers::of(60, &fan);
    assert_sound(&drawn);
    let middle = drawn.height.0 / 2.0;
    assert!((drawn.boxes[0].1.0 + HEIGHT / 2.0 - middle).abs() < HEIGHT, "the first one is in the middle of the fan");
}
