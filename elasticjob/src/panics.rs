//! Catches panics, with their message and place.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use futures_util::FutureExt;

/// A panic that the panic hook has seen.
struct Seen {
    message: String,
    place: String,
}

thread_local! {
    /// The last panic of this thread.
    static LAST: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// Runs `future`, which is code of the user, to its end or to its panic. Returns a description of the panic. After a
/// panic the future is dropped at once, as it would panic again if it were polled again.
///
/// It is no async function: that would keep room for the future twice, in each of thousands of jobs.
pub(crate) fn catch<T, F: Future<Output = T>>(future: F) -> impl Future<Output = Result<T, String>> + use<T, F> {
    note_places();
    AssertUnwindSafe(future).catch_unwind().map(|ended| ended.map_err(|panic| describe_panic(panic.as_ref())))
}

/// The same for a function.
pub(crate) fn catch_blocking<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    note_places();
    catch_unwind(AssertUnwindSafe(function)).map_err(|panic| describe_panic(panic.as_ref()))
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is not text").to_owned()
}

/// From now on notes the places of panics. Only the panic hook of the process gets a place, so this sets a hook, which
/// also calls the hook that was there before.
fn note_places() {
    static NOTING: Once = Once::new();
    NOTING.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            note(info);
            before(info);
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) {
    let Some(place) = info.location() else { return };
    let seen = Seen { message: panic_message(info.payload()), place: place.to_string() };
    // The panic is not noted where that is not possible any more: a second panic would end the process.
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| *last = Some(seen)));
}

/// The message of a panic that was just caught on this thread, and its place if it was noted here. The place of a panic
/// that another thread passed on was noted on that thread.
fn describe_panic(panic: &(dyn Any + Send)) -> String {
    let message = panic_message(panic);
    let last = LAST.try_with(|last| last.try_borrow_mut().ok()?.take()).ok().flatten();
    match last.filter(|seen| seen.message == message) {
        Some(seen) => format!("it panicked at {}: {message}", seen.place),
        None => format!("it panicked: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    fn described(panics: impl FnOnce()) -> String {
        catch_blocking(panics).unwrap_err()
    }

    #[test]
    fn a_panic_is_told_with_its_place() {
        note_places();
        note_places();
        let line = line!() + 1;
        let told = described(|| panic!("out of {}", "paper"));
        let place = told.strip_prefix(&format!("it panicked at {}:{line}:", file!()));
        assert!(place.is_some_and(|rest| rest.ends_with(": out of paper")), "{told}");
    }

    #[test]
    fn one_of_another_thread_has_not_the_place_of_an_earlier_one_here() {
        note_places();
        let _ = catch_unwind(|| panic!("here"));
        let there = std::thread::spawn(|| panic!("there")).join().unwrap_err();
        assert_eq!(described(|| resume_unwind(there)), "it panicked: there");
    }
}
