//! Wrong answers of a load as they came, one file each; over HTTP/2 with the head written out.

use std::io;
use std::path::{Path, PathBuf};

use engine::{KEPT_ANSWER_BYTES_MAX, KeptAnswer};
use lab::load::Keep;
use plan::PlanError;

use crate::arguments::Hit;
use crate::exit::Failure;
use crate::output::{say, write_whole};

/// Where they go, where none is named.
const FOLDER_DEFAULT: &str = "wrong-responses";

/// A folder of its own for them.
pub struct Saved {
    folder: PathBuf,
    /// Whether it was made for this.
    is_new: bool,
    /// Where they are kept during the load.
    pub keep: Keep,
}

impl Saved {
    /// Makes the folder of `--save-responses` before the load, so that nothing is measured for one that can't be.
    pub fn open(arguments: &Hit) -> Result<Option<Self>, Failure> {
        let Some(most) = arguments.save_responses else { return Ok(None) };
        let folder = arguments.save_responses_dir.clone().unwrap_or_else(|| FOLDER_DEFAULT.into());
        let is_new = !folder.exists();
        if !is_new && !is_empty(&folder)? {
            let what =
                "there is something in this folder already, and wrong answers go into one of their own";
            let help = "name another with --save-responses-dir, or empty it";
            return Err(PlanError::new(what, help).in_file(&folder).into());
        }
        std::fs::create_dir_all(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(Some(Self { folder, is_new, keep: Keep::new(most) }))
    }

    /// Writes those that came, byte by byte as they did, and says where they are.
    pub fn write(self, quiet: bool) -> Result<(), Failure> {
        let answers = self.keep.into_answers();
        if answers.is_empty() && self.is_new {
            // Where it can't be removed it does no harm.
            let _ = std::fs::remove_dir(&self.folder);
        }
        for (number, KeptAnswer { bytes, .. }) in (1..).zip(&answers) {
            write_whole(&self.folder.join(format!("{number:04}.http")), bytes)?;
        }
        if !quiet && !answers.is_empty() {
            let cut = answers.iter().filter(|it| it.is_cut).count();
            let cut = match cut {
                0 => String::new(),
                cut => format!("; of {cut} only the first {} KiB", KEPT_ANSWER_BYTES_MAX / 1024),
            };
            let plural = if answers.len() == 1 { "answer" } else { "answers" };
            say(format_args!(
                "proofload: {} wrong {plural} in {}{cut}",
                answers.len(),
                self.folder.display()
            ));
        }
        Ok(())
    }
}

fn is_empty(folder: &Path) -> Result<bool, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| unusable(folder, &error))?;
    Ok(entries.take(1).count() == 0)
}

fn unusable(folder: &Path, error: &io::Error) -> Failure {
    let folder = folder.display();
    Failure::system(format!("{folder} can't be used as a folder ({error}); check --save-responses-dir"))
}
