//! A text that changes, at a path of its own.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::site::{Page, Site};

/// One page whose text is whatever was published last; empty before that.
pub struct Latest {
    path: &'static str,
    kind: &'static str,
    text: Mutex<Bytes>,
}

impl Latest {
    /// At `path`, of `kind`, a media type.
    pub fn new(path: &'static str, kind: &'static str) -> Arc<Self> {
        Arc::new(Self { path, kind, text: Mutex::default() })
    }

    /// Makes `text` the page.
    pub fn publish(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
    }
}

impl Site for Latest {
    fn page(&self, path: &str, _query: &str) -> Option<Page> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        (path == self.path).then(|| Page::new(self.kind, text.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_published_last_is_at_its_path_alone() {
        let latest = Latest::new("/metrics", "text/plain");
        assert_eq!(latest.page("/metrics", "").unwrap().body, "");
        latest.publish("a 1\n".into());
        latest.publish("a 2\n".into());
        assert_eq!(latest.page("/metrics", "x=1").unwrap().body, "a 2\n");
        assert_eq!(latest.page("/other", ""), None);
    }
}
