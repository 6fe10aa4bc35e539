//! All stacks of a folder, and which of them stand behind which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::template::without_variant;
use super::{Endpoint, InterventionOn, MANIFEST, StackManifest};
use crate::error::PlanError;
use crate::nearest;

/// Most stacks in a row, each behind the one before: a bound, since more is a slip rather than a test.
pub const CHAIN_MAX: usize = 4;

/// Every stack of a folder and every variant of it by id, and what is wrong with those that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    dir: PathBuf,
    stacks: BTreeMap<String, StackManifest>,
    /// By the name of their folder, or of a variant by its id: stacks whose manifest has a mistake.
    broken: BTreeMap<String, PlanError>,
}

impl Catalogue {
    /// Loads every `<id>/stack.toml` in `dir`. One with a mistake is kept aside with it, and keeps nobody from the others;
    /// so is a stack whose upstream does not exist, is broken, or stands behind itself.
    pub fn load(dir: &Path) -> Result<Self, PlanError> {
        let unreadable = |error: std::io::Error| {
            let help = "run inside a checkout of proofload, or name its folder `stacks`; in a project of your own, write a \
                        proofload.toml with `proofload init`";
            PlanError::new(format!("cannot be read as a folder of stacks ({error})"), help).in_file(dir)
        };
        let (mut stacks, mut broken) = (BTreeMap::new(), BTreeMap::new());
        for entry in std::fs::read_dir(dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let shared = entry.file_name().as_encoded_bytes().starts_with(b"_");
            if shared || !entry.path().join(MANIFEST).is_file() {
                continue;
            }
            match StackManifest::load(&entry.path()) {
                Ok(all) => stacks.extend(all.into_iter().map(|stack| (stack.id.clone(), stack))),
                Err(error) => {
                    broken.insert(entry.file_name().to_string_lossy().into_owned(), error);
                }
            }
        }
        Ok(Self { dir: dir.to_owned(), stacks, broken }.without_broken_chains())
    }

    /// The services of a project, and the stacks of the folder `dir`, where there is one.
    pub fn with_services(dir: &Path, services: Vec<StackManifest>) -> Result<Self, PlanError> {
        let mut all = if dir.is_dir() {
            Self::load(dir)?
        } else {
            Self { dir: dir.to_owned(), stacks: BTreeMap::new(), broken: BTreeMap::new() }
        };
        for service in services {
            all.broken.remove(&service.id);
            // Who works on a project means its own.
            all.stacks.insert(service.id.clone(), service);
        }
        Ok(all.without_broken_chains())
    }

    fn without_broken_chains(self) -> Self {
        let mut catalogue = self;
        let chainless = |stack: &StackManifest| {
            let error = catalogue.chain(&stack.id).err()?;
            Some((stack.id.clone(), error.in_file(&stack.file)))
        };
        let chainless: Vec<_> = catalogue.stacks.values().filter_map(chainless).collect();
        catalogue.stacks.retain(|id, _| chainless.iter().all(|(broken, _)| broken != id));
        catalogue.broken.extend(chainless);
        catalogue
    }

    /// The stacks that can't be used, and why.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &PlanError)> {
        self.broken.iter().map(|(id, error)| (id.as_str(), error))
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The stack called `id`; of one whose manifest has a mistake, that mistake.
    pub fn get(&self, id: &str) -> Result<&StackManifest, PlanError> {
        self.stacks.get(id).ok_or_else(|| {
            let of_stack = without_variant(id);
            let mistake = self.broken.get(id).or_else(|| self.broken.get(of_stack));
            mistake.cloned().unwrap_or_else(|| {
                let known = self.stacks.keys().chain(self.broken.keys()).map(String::as_str);
                let help = nearest::help(id, known, "`proofload list` lists them all");
                PlanError::new(format!("there is no stack `{id}` in {}", self.dir.display()), help)
            })
        })
    }

    /// The stack called `id` and what stands behind it, in the order in which they are booted: `id` is last.
    pub fn chain(&self, id: &str) -> Result<Vec<&StackManifest>, PlanError> {
        let (mut front, mut chain) = (Vec::new(), Vec::new());
        self.add_to_chain(id, &mut front, &mut chain)?;
        Ok(chain)
    }

    /// The stacks right behind `stack`, in its order, and what `endpoint` is of each. Of several a store may have none of that name,
    /// and is left out.
    pub fn behind(
        &self,
        stack: &StackManifest,
        endpoint: &str,
    ) -> Result<Vec<(&StackManifest, &Endpoint)>, PlanError> {
        let (mut found, mut without) = (Vec::new(), None);
        for id in &stack.upstreams {
            let upstream = self.get(id)?;
            match upstream.endpoint(endpoint) {
                Ok(endpoint) => found.push((upstream, endpoint)),
                Err(error) => without = without.or(Some(error)),
            }
        }
        without.filter(|_| found.is_empty()).map_or(Ok(found), Err)
    }

    /// Adds the stack called `id`, in front of which those of `front` stand, and before it what stands behind it: the last that it
    /// names first, so that the first is right behind it.
    fn add_to_chain<'a>(
        &'a self,
        id: &str,
        front: &mut Vec<&'a str>,
        chain: &mut Vec<&'a StackManifest>,
    ) -> Result<(), PlanError> {
        if let Some(at) = front.iter().position(|earlier| *earlier == id) {
            return Err(behind_itself(id, &front[at + 1..]));
        }
        if chain.len() + front.len() >= CHAIN_MAX {
            let first = front.first().copied().unwrap_or(id);
            let what = format!("more than {CHAIN_MAX} stacks stand behind each other from `{first}` on");
            return Err(PlanError::new(what, "name an upstream that forwards to none, or to fewer"));
        }
        let stack = self.get(id)?;
        if !front.is_empty() && stack.site().is_some() {
            let what = format!("`{id}` is running already, at a url, and can't be an upstream");
            let help = "leave upstream out, and write its address where the stack in front of it is told";
            return Err(PlanError::new(what, help));
        }
        front.push(&stack.id);
        for upstream in stack.upstreams.iter().rev() {
            self.add_to_chain(upstream, front, chain)?;
        }
        front.pop();
        if chain.iter().any(|earlier| earlier.id == stack.id) {
            let what = format!("`{id}` stands behind two stacks of one chain");
            return Err(PlanError::new(what, "leave it to one of them, or give the other one of its own"));
        }
        chain.push(stack);
        Ok(())
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
}

/// An error where `id` is an upstream of itself, or of those `between`, each right behind the one before.
fn behind_itself(id: &str, between: &[&str]) -> PlanError {
    let way = match between {
        [] => String::new(),
        between => format!(", by way of {}", between.join(" and ")),
    };
    PlanError::new(
        format!("`{id}` stands behind itself{way}"),
        "name an upstream behind which it does not stand in turn",
    )
}
