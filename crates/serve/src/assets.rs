//! The pages, which are part of the program: nothing is read from a folder, and nothing is loaded from elsewhere.

use crate::site::Page;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page of a run that goes on.
pub(crate) fn live() -> Page {
    Page::new(HTML, include_str!("../assets/live.html"))
}

/// The page of the runs that are recorded.
pub(crate) fn runs() -> Page {
    Page::new(HTML, include_str!("../assets/runs.html"))
}

/// What pages load.
pub(crate) fn file(path: &str) -> Option<Page> {
    Some(match path {
        "/style.css" => Page::new(CSS, include_str!("../assets/style.css")),
        "/words.js" => Page::new(SCRIPT, include_str!("../assets/words.js")),
        "/figures.js" => Page::new(SCRIPT, include_str!("../assets/figures.js")),
        "/live.js" => Page::new(SCRIPT, include_str!("../assets/live.js")),
        "/runs.js" => Page::new(SCRIPT, include_str!("../assets/runs.js")),
        _ => return None,
    })
}
