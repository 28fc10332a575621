//! Tests of the wait before a registry that failed is asked again.

use std::time::Duration;

use super::group::{Group, every_five, job};
use crate::engine::{Action, Event};
use crate::registry::layout::JobPath;
use crate::registry::{RegistryError, WatchEvent};

/// Questions of an engine that were not answered yet.
#[derive(Default)]
struct Questions {
    lists: Vec<(u32, JobPath)>,
    reads: Vec<(u32, JobPath)>,
}

impl Questions {
    fn of(group: &mut Group) -> Self {
        let mut asked = Self::default();
        while let Some(action) = group.hosts[0].engine.poll_action() {
            match action {
                Action::List { generation, paths } => {
                    asked.lists.extend(paths.into_iter().map(|path| (generation, path)))
                }
                Action::Read { generation, paths } => {
                    asked.reads.extend(paths.into_iter().map(|path| (generation, path)))
                }
                _ => {}
            }
        }
        asked
    }

    fn answer(self, group: &mut Group, is_connected: bool) {
        let now = group.now();
        let lost = || RegistryError::NoAnswer { why: "the connection is lost".into() };
        for (generation, path) in self.lists {
            let children = group.tree.children(&path.absolute(&job())).unwrap();
            let children = if is_connected { Ok(children) } else { Err(lost()) };
            group.hosts[0].engine.handle(now, Event::Listed { generation, path, children });
        }
        for (generation, path) in self.reads {
            let node = group.tree.get(&path.absolute(&job())).unwrap();
            let node = if is_connected { Ok(node) } else { Err(lost()) };
            group.hosts[0].engine.handle(now, Event::Read { generation, path, node });
        }
    }
}

/// How long the first engine waits until it asks again.
fn pause(group: &Group) -> u128 {
    let again = group.hosts[0].engine.poll_timeout().mono.expect("it asks again");
    (again - group.now().mono).as_millis()
}

fn after_a_gap() -> Group {
    let mut group = Group::settled(1, &every_five(8));
    let now = group.now();
    group.hosts[0].engine.handle(now, Event::Watch(WatchEvent::Gap));
    group
}

/// When a connection breaks, all requests of that moment fail with it: that is one failure of the registry, not many.
#[test]
fn questions_that_fail_together_are_asked_again_as_soon_as_a_single_one() {
    let mut group = after_a_gap();
    let mut asked = Questions::of(&mut group);
    while asked.lists.len() + asked.reads.len() < 6 {
        asked.answer(&mut group, true);
        asked = Questions::of(&mut group);
    }
    asked.answer(&mut group, false);
    assert_eq!(pause(&group), 100);
}

#[test]
fn a_registry_that_keeps_failing_is_asked_more_and_more_seldom() {
    let mut group = after_a_gap();
    let mut pauses = Vec::new();
    for _ in 0..7 {
        Questions::of(&mut group).answer(&mut group, false);
        pauses.push(pause(&group));
        let again = group.hosts[0].engine.poll_timeout().mono.unwrap_or(Duration::ZERO);
        group.sleep_until(again.as_millis() as u64);
        let now = group.now();
        group.hosts[0].engine.handle(now, Event::Tick);
    }
    assert_eq!(pauses, [100, 200, 400, 800, 1_600, 3_000, 3_000]);
}
