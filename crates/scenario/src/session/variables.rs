//! The variables of one user: in order of their names, which takes less room than a tree and is found as fast.

/// What the values of one user may come to, bytes. A plan may be anybody's, and have each value twice the one before it.
pub(super) const BYTES_MAX: usize = 64 << 20;

/// Texts by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    sorted: Vec<(Box<str>, Box<str>)>,
    bytes: usize,
    /// Whether a value found no room, since it was asked for.
    overflowed: bool,
}

impl Variables {
    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let place = self.place(name).ok()?;
        Some(&self.sorted[place].1)
    }

    /// Gives a variable a value. What there is no room for is not kept, and [`Variables::take_overflow`] says so.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Box<str>>) {
        let value = value.into();
        let place = self.place(name);
        let before = place.map_or(0, |place| self.sorted[place].1.len());
        let bytes = self.bytes - before + value.len();
        if bytes > BYTES_MAX {
            self.overflowed = true;
            return;
        }
        self.bytes = bytes;
        match place {
            Ok(place) => self.sorted[place].1 = value,
            Err(place) => self.sorted.insert(place, (name.into(), value)),
        }
    }

    /// Takes a variable away, if there is one.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Ok(place) = self.place(name) {
            let (_, value) = self.sorted.remove(place);
            self.bytes -= value.len();
        }
    }

    /// Whether a value found no room, since this was asked for last.
    pub(crate) fn take_overflow(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.sorted.binary_search_by(|(other, _)| (**other).cmp(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts() {
        let mut variables = Variables::default();
        for (name, value) in [("b", "1"), ("a", "2"), ("c", "3"), ("b", "4")] {
            variables.set(name, value);
        }
        variables.remove("c");
        variables.remove("none");
        assert_eq!(["a", "b", "c"].map(|name| variables.get(name)), [Some("2"), Some("4"), None]);
        assert_eq!(variables.bytes, 2);
    }

    #[test]
    fn what_there_is_no_room_for_is_not_kept_and_that_is_said_once() {
        let mut variables = Variables::default();
        variables.set("a", "x".repeat(BYTES_MAX));
        assert!(!variables.take_overflow());
        variables.set("b", "y");
        assert_eq!(variables.get("b"), None);
        assert!(variables.take_overflow() && !variables.take_overflow());
        variables.set("a", "x");
        variables.set("b", "y");
        assert_eq!(variables.get("b"), Some("y"));
        assert!(!variables.take_overflow());
    }
}
