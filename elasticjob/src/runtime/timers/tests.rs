use tokio::time::{Instant, advance, timeout};

use super::super::clock::SettableClock;
use super::*;

const START_MS: i64 = 1_767_225_599_500;

/// More than tokio's rounding of a sleep to its step of 1 ms, twice.
const SLACK_MS: i64 = 3;

struct Fixture {
    clock: Arc<SettableClock>,
    timers: Timers,
    wake: Arc<Notify>,
    timer: Timer,
}

impl Fixture {
    fn start() -> Self {
        let clock = Arc::new(SettableClock::starting_at(START_MS));
        let timers = Timers::start(&Handle::current(), Arc::clone(&clock) as Arc<dyn Clock>);
        let wake = Arc::new(Notify::new());
        let timer = timers.register(Arc::clone(&wake));
        Self { clock, timers, wake, timer }
    }

    /// Waits for the timer; returns what the wall clock shows then.
    async fn fired_at(&self) -> i64 {
        self.wake.notified().await;
        self.clock.wall_ms()
    }

    async fn stays_quiet_for(&self, time: Duration) {
        assert!(timeout(time, self.wake.notified()).await.is_err(), "fired at {}", self.clock.wall_ms());
    }
}

fn assert_just_after(at: i64, deadline: i64) {
    assert!((deadline..=deadline + SLACK_MS).contains(&at), "{} ms after the deadline", at - deadline);
}

async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn it_fires_at_its_wall_time_and_never_before() {
    let fixture = Fixture::start();
    for after in [1, 2, 7, 999, 1_000, 1_001, 12_345] {
        // Not aligned to tokio's steps.
        advance(Duration::from_micros(370)).await;
        let deadline = fixture.clock.wall_ms() + after;
        fixture.timer.set(Deadline::Wall(deadline));
        assert_just_after(fixture.fired_at().await, deadline);
    }
}

#[tokio::test(start_paused = true)]
async fn it_fires_once_until_it_is_set_again() {
    let fixture = Fixture::start();
    fixture.timer.set(Deadline::Wall(START_MS + 100));
    fixture.fired_at().await;
    fixture.stays_quiet_for(Duration::from_secs(5)).await;
    fixture.timer.set(Deadline::Wall(START_MS + 100));
    let at = fixture.clock.wall_ms();
    assert_just_after(fixture.fired_at().await, at);
}

#[tokio::test(start_paused = true)]
async fn a_clock_stepped_forward_is_seen_within_a_second() {
    let fixture = Fixture::start();
    fixture.timer.set(Deadline::Wall(START_MS + 3_600_000));
    settle().await;
    fixture.clock.step(3_600_000);
    let stepped = fixture.clock.wall_ms();
    let late = fixture.fired_at().await - stepped;
    assert!(late <= 1_000 + SLACK_MS, "{late} ms");
}

#[tokio::test(start_paused = true)]
async fn a_clock_stepped_backward_is_waited_for() {
    let fixture = Fixture::start();
    let deadline = START_MS + 700;
    fixture.timer.set(Deadline::Wall(deadline));
    settle().await;
    fixture.clock.step(-60_000);
    fixture.stays_quiet_for(Duration::from_secs(60)).await;
    assert_just_after(fixture.fired_at().await, deadline);
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_runs_slow_is_not_outrun() {
    let fixture = Fixture::start();
    let deadline = START_MS + 800;
    fixture.timer.set(Deadline::Wall(deadline));
    settle().await;
    fixture.clock.step(-5);
    assert_just_after(fixture.fired_at().await, deadline);
}

#[tokio::test(start_paused = true)]
async fn a_monotonic_deadline_does_not_follow_the_wall_clock() {
    let fixture = Fixture::start();
    let begin = Instant::now();
    fixture.timer.set(Deadline::Mono(fixture.clock.mono() + Duration::from_secs(30)));
    settle().await;
    fixture.clock.step(3_600_000);
    fixture.stays_quiet_for(Duration::from_secs(29)).await;
    fixture.clock.step(-7_200_000);
    fixture.fired_at().await;
    let after = begin.elapsed();
    assert!(after >= Duration::from_secs(30) && after < Duration::from_millis(30_010), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_goes_on_finds_within_a_second_what_came_while_it_was_suspended() {
    let fixture = Fixture::start();
    fixture.timer.set(Deadline::Mono(fixture.clock.mono() + Duration::from_secs(30)));
    settle().await;
    fixture.clock.suspend(60_000);
    let resumed = Instant::now();
    fixture.fired_at().await;
    assert!(resumed.elapsed() <= Duration::from_millis(1_003), "{:?}", resumed.elapsed());
}

#[tokio::test(start_paused = true)]
async fn of_two_deadlines_the_first_one_reached_wins() {
    let fixture = Fixture::start();
    let mono = |after_ms| fixture.clock.mono() + Duration::from_millis(after_ms);

    fixture.timer.set(Deadline::First { wall_ms: START_MS + 5_000, mono: mono(60_000) });
    assert_just_after(fixture.fired_at().await, START_MS + 5_000);
    fixture.stays_quiet_for(Duration::from_secs(90)).await;

    let now = fixture.clock.wall_ms();
    fixture.timer.set(Deadline::first_of(Some(now + 60_000), Some(mono(4_300))).unwrap());
    assert_just_after(fixture.fired_at().await, now + 4_300);
    fixture.stays_quiet_for(Duration::from_secs(90)).await;
}

#[tokio::test(start_paused = true)]
async fn the_deadline_set_last_counts_be_it_earlier_or_later() {
    let fixture = Fixture::start();
    fixture.timer.set(Deadline::Wall(START_MS + 60_000));
    settle().await;
    fixture.timer.set(Deadline::Wall(START_MS + 200));
    assert_just_after(fixture.fired_at().await, START_MS + 200);

    fixture.timer.set(Deadline::Wall(START_MS + 60_000));
    fixture.timer.set(Deadline::Wall(START_MS + 90_000));
    assert_just_after(fixture.fired_at().await, START_MS + 90_000);
}

#[tokio::test(start_paused = true)]
async fn an_earlier_deadline_of_another_kind_wakes_the_sleeping_task() {
    let fixture = Fixture::start();
    let other = fixture.timers.register(Arc::new(Notify::new()));
    other.set(Deadline::Mono(fixture.clock.mono() + Duration::from_secs(60)));
    settle().await;
    fixture.timer.set(Deadline::Wall(START_MS + 200));
    assert_just_after(fixture.fired_at().await, START_MS + 200);
}

#[tokio::test(start_paused = true)]
async fn a_cleared_or_dropped_timer_does_not_fire() {
    let Fixture { clock, timers, wake, timer } = Fixture::start();
    let other = timers.register(Arc::clone(&wake));
    timer.set(Deadline::Wall(START_MS + 100));
    other.set(Deadline::Mono(clock.mono() + Duration::from_millis(100)));
    timer.clear();
    drop(other);
    let fixture = Fixture { clock, timers, wake, timer };
    fixture.stays_quiet_for(Duration::from_secs(5)).await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_past_or_never_is_taken_as_such() {
    let fixture = Fixture::start();
    fixture.timer.set(Deadline::Wall(i64::MIN));
    assert_just_after(fixture.fired_at().await, START_MS);
    fixture.timer.set(Deadline::Wall(i64::MAX));
    fixture.stays_quiet_for(Duration::from_secs(5)).await;
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_timers_set_again_and_again_fire_in_time_in_bounded_memory() {
    let fixture = Fixture::start();
    let jobs: Vec<(Timer, Arc<Notify>)> = (0..10_000)
        .map(|_| {
            let wake = Arc::new(Notify::new());
            (fixture.timers.register(Arc::clone(&wake)), wake)
        })
        .collect();
    for second in 1..=20 {
        let deadline = START_MS + second * 1_000;
        let hour = fixture.clock.mono() + Duration::from_secs(3_600);
        let an_hour_after = |later: i64| hour + Duration::from_secs(later.unsigned_abs());
        for (index, (timer, _)) in (0_i64..).zip(&jobs) {
            // Set some times, as a driver does that sees a fire and then changes of the configuration.
            for later in [4, 3, 2, 1, 0] {
                timer.set(Deadline::First { wall_ms: deadline + later * index, mono: an_hour_after(later) });
            }
        }
        let (timers, wall, mono) = {
            let state = fixture.timers.0.state();
            (state.timers.len(), state.wall.len(), state.mono.len())
        };
        let most = 2 * timers + STALE_ALLOWANCE;
        assert!(wall <= most && mono <= most, "{wall} and {mono} entries");
        for (_, wake) in &jobs {
            timeout(Duration::from_secs(3), wake.notified()).await.unwrap();
            assert_just_after(fixture.clock.wall_ms(), deadline);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_with_the_last_handle() {
    let Fixture { timers, timer, .. } = Fixture::start();
    let alive = || Handle::current().metrics().num_alive_tasks();
    timer.set(Deadline::Wall(START_MS + 3_600_000));
    settle().await;
    assert_eq!(alive(), 1);
    drop(timers);
    settle().await;
    assert_eq!(alive(), 1);
    drop(timer);
    settle().await;
    assert_eq!(alive(), 0);
}
