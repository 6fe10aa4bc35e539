//! Wrong answers of a load as they came, one file each; over HTTP/2 with the head written out.

use std::io;
use std::path::{Path, PathBuf};

use engine::{KEPT_ANSWER_BYTES_MAX, KeptAnswer};
use lab::load::Keep;
use plan::PlanError;

use crate::arguments::Hit;
use crate::exit::Failure;
use crate::output::{say, write_into_run};

/// Where they go, where none is named.
const FOLDER_DEFAULT: &str = "wrong-responses";

/// A folder of its own for them.
pub struct Saved {
    folder: Folder,
    /// Where they are kept during the load.
    pub keep: Keep,
}

/// A folder, and what of it was made for this, the innermost first: that goes again, however a load ends, unless something is in
/// it.
struct Folder {
    path: PathBuf,
    made: Vec<PathBuf>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        for folder in &self.made {
            // Where it can't be removed it does no harm.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

impl Saved {
    /// Makes the folder of `--save-responses` before the load, so that nothing is measured for one that can't be.
    pub fn open(arguments: &Hit) -> Result<Option<Self>, Failure> {
        let Some(most) = arguments.save_responses else { return Ok(None) };
        let path = arguments.save_responses_dir.clone().unwrap_or_else(|| FOLDER_DEFAULT.into());
        let outwards = path.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists());
        let made: Vec<PathBuf> = outwards.map(Path::to_owned).collect();
        if made.is_empty() && !is_empty(&path)? {
            let what =
                "there is something in this folder already, and wrong answers go into one of their own";
            let help = "name another with --save-responses-dir, or empty it";
            return Err(PlanError::new(what, help).in_file(&path).into());
        }
        let folder = Folder { path, made };
        std::fs::create_dir_all(&folder.path).map_err(|error| unusable(&folder.path, &error))?;
        Ok(Some(Self { folder, keep: Keep::new(most) }))
    }

    /// Writes those that came, byte by byte as they did, and says where they are.
    pub fn write(self, quiet: bool) -> Result<(), Failure> {
        let Self { folder, keep } = self;
        let answers = keep.into_answers();
        for (number, KeptAnswer { bytes, .. }) in (1..).zip(&answers) {
            write_into_run(&folder.path.join(format!("{number:04}.http")), bytes)?;
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
                folder.path.display()
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
