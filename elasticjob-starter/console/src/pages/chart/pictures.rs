//! Pictures of boxes and lines that were laid out before. The place of a box depends on the boxes and lines alone, not on how
//! the jobs stand, so a page lays out only what no page had before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::layers::Layers;

/// How many pictures are kept. One of 200 boxes takes about 50 kB.
const MOST: usize = 128;

/// How many boxes, and the lines between them.
type Shape = (usize, Vec<(usize, usize)>);

/// The pictures by their boxes and lines.
#[derive(Debug, Default)]
pub(crate) struct Pictures(Mutex<HashMap<Shape, Arc<Layers>>>);

impl Pictures {
    /// The picture of so many boxes, with lines from box to box.
    pub(crate) fn of(&self, count: usize, lines: Vec<(usize, usize)>) -> Arc<Layers> {
        let shape = (count, lines);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(picture) = known().get(&shape) {
            return picture.clone();
        }
        // Laid out without the lock: other pages go on meanwhile.
        let picture = Arc::new(Layers::of(shape.0, &shape.1));
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(shape, picture.clone());
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_laid_out_is_not_laid_out_again_and_not_all_is_kept() {
        let pictures = Pictures::default();
        let chain = || vec![(0, 1), (1, 2)];
        let first = pictures.of(3, chain());
        assert!(Arc::ptr_eq(&first, &pictures.of(3, chain())));
        assert!(!Arc::ptr_eq(&first, &pictures.of(4, chain())), "another box");
        assert!(!Arc::ptr_eq(&first, &pictures.of(3, vec![(0, 1), (0, 2)])), "another line");
        (10..10 + MOST).for_each(|count| drop(pictures.of(count, Vec::new())));
        assert!(pictures.0.lock().unwrap().len() <= MOST);
    }
}
