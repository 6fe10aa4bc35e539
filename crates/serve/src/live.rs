//! A run while it goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use crate::assets;
use crate::site::{Page, Site};

/// Makes the report of the run in a directory as HTML, or says why that can't be.
pub type Render = Arc<dyn Fn(&Path) -> Result<String, String> + Send + Sync>;

/// The page of a run or a load, and its state: `/`, `/state.json`, `/events`, and `/report` once there is one.
pub struct Live {
    state: watch::Sender<Bytes>,
    /// The directory of a run that is over.
    over: Mutex<Option<PathBuf>>,
    render: Render,
}

impl Live {
    /// Nothing is known yet. `render` makes the report at the end.
    pub fn new(render: Render) -> Arc<Self> {
        let state = watch::Sender::new(Bytes::from_static(b"null"));
        Arc::new(Self { state, over: Mutex::default(), render })
    }

    /// Makes `json` the state. Never waits for anybody.
    pub fn publish(&self, json: String) {
        self.state.send_replace(json.into());
    }

    /// The run is over, and what was recorded is in `dir`.
    pub fn has_report(&self, dir: PathBuf) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = Some(dir);
    }

    /// Browsers that have the page open.
    pub fn watchers(&self) -> usize {
        self.state.receiver_count()
    }

    fn report(&self) -> Page {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(dir) = over else { return Page::refused(404, "there is no report before the run is over") };
        match (self.render)(&dir) {
            Ok(html) => Page::report(html),
            Err(why) => Page::refused(500, &why),
        }
    }
}

impl Site for Live {
    fn page(&self, path: &str, _query: &str) -> Option<Page> {
        match path {
            "/" => Some(assets::live()),
            "/state.json" => Some(Page::json(self.state.borrow().clone())),
            "/report" => Some(self.report()),
            path => assets::file(path),
        }
    }

    fn events(&self, path: &str) -> Option<watch::Receiver<Bytes>> {
        (path == "/events").then(|| self.state.subscribe())
    }
}
