//! All stacks of a folder, and which of them stand behind which.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{InterventionOn, MANIFEST, StackManifest};
use crate::error::PlanError;

/// Most stacks in a row, each behind the one before: a bound, since more is a slip rather than a test.
pub const CHAIN_MAX: usize = 4;

/// Every stack of a folder and every variant of it, all of them valid, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    dir: PathBuf,
    stacks: BTreeMap<String, StackManifest>,
}

impl Catalogue {
    /// Loads every `<id>/stack.toml` in `dir`. Each upstream that is named exists, and no stack stands behind
    /// itself.
    pub fn load(dir: &Path) -> Result<Self, PlanError> {
        let unreadable = |error: std::io::Error| {
            let help = "run inside a checkout of proofload, or name its folder `stacks`";
            PlanError::new(format!("cannot be read as a folder of stacks ({error})"), help).in_file(dir)
        };
        let mut stacks = BTreeMap::new();
        for entry in std::fs::read_dir(dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let shared = entry.file_name().as_encoded_bytes().starts_with(b"_");
            if !shared && entry.path().join(MANIFEST).is_file() {
                let all = StackManifest::load(&entry.path())?;
                stacks.extend(all.into_iter().map(|stack| (stack.id.clone(), stack)));
            }
        }
        let catalogue = Self { dir: dir.to_owned(), stacks };
        for stack in catalogue.stacks.values() {
            catalogue.chain(&stack.id).map_err(|error| error.in_file(&stack.dir.join(MANIFEST)))?;
        }
        Ok(catalogue)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The stack called `id`.
    pub fn get(&self, id: &str) -> Result<&StackManifest, PlanError> {
        self.stacks.get(id).ok_or_else(|| {
            let mut help = String::from("`proofload list` lists them all");
            let close = self.close_to(id);
            if !close.is_empty() {
                // Writing into a String cannot fail.
                let _ = write!(help, "; did you mean {}?", close.join(", "));
            }
            PlanError::new(format!("there is no stack `{id}` in {}", self.dir.display()), help)
        })
    }

    /// The stack called `id` and what stands behind it, in the order in which they are booted: `id` is last.
    pub fn chain(&self, id: &str) -> Result<Vec<&StackManifest>, PlanError> {
        let mut chain = vec![self.get(id)?];
        while let Some(upstream) = &chain[chain.len() - 1].upstream {
            if chain.len() == CHAIN_MAX {
                let what = format!("more than {CHAIN_MAX} stacks stand behind each other from `{id}` on");
                return Err(PlanError::new(what, "name an upstream that forwards to none, or to fewer"));
            }
            chain.push(self.get(upstream)?);
        }
        chain.reverse();
        Ok(chain)
    }

    /// All stacks by id, without their variants.
    pub fn iter(&self) -> impl Iterator<Item = &StackManifest> {
        self.iter_with_variants().filter(|stack| stack.variant.is_none())
    }

    /// All stacks by id, each followed by its variants.
    pub fn iter_with_variants(&self) -> impl Iterator<Item = &StackManifest> {
        self.stacks.values()
    }

    /// The variants of the stack called `stack_id` that change `on` and no other limit, by name. None of a variant: it has
    /// no variants of its own.
    pub fn interventions(&self, stack_id: &str, on: InterventionOn) -> Vec<&StackManifest> {
        let changes = |stack: &&StackManifest| {
            stack.variant.as_ref().is_some_and(|variant| {
                variant.of == stack_id && variant.intervention.as_ref().is_some_and(|it| it.on == on)
            })
        };
        self.iter_with_variants().filter(changes).collect()
    }

    /// At most five ids that `id` may be a slip for, the closest first.
    fn close_to(&self, id: &str) -> Vec<&str> {
        let distance = |known: &str| {
            let contained = id.len() >= 3 && (known.contains(id) || id.contains(known));
            if contained { 1 } else { edit_distance(id, known) }
        };
        let bound = 1 + id.len() / 3;
        let mut close: Vec<(usize, &str)> =
            self.stacks.keys().map(|known| (distance(known), known.as_str())).collect();
        close.retain(|(distance, _)| *distance <= bound);
        close.sort_unstable();
        close.into_iter().take(5).map(|(_, known)| known).collect()
    }
}

/// Levenshtein's distance, over bytes.
fn edit_distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.bytes().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
