//! A script for tests of how carriers stop.

/// Says when it begins and each time that it is asked to end, and runs until the test lets it end: with 0, though the request may
/// end its last `sleep`. `$DIR` is a folder of the test.
pub(crate) const DEAF: &str = "trap 'echo asked >>$DIR/asked' TERM; echo begun >>$DIR/runs; while [ -d $DIR ] && [ ! -e $DIR/end ]; do sleep 0.05; done; exit 0";
