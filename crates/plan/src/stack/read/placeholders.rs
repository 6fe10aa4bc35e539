//! Placeholders, and the stack's own among them: each one that is written is known, and each one that is declared is used.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::raw::RawUpstreams;
use super::super::{ConfigFile, Run, Template};
use super::Source;
use super::upstreams::NAMED_UPSTREAM;
use crate::error::PlanError;
use crate::toml_file;

/// The placeholders that every stack has; `{upstream}` is empty where none is named.
const BUILT_IN: [&str; 7] =
    ["port", "address", "upstream", "proofload", "stack_dir", "build_dir", "work_dir"];
/// Those that are known when it is built.
const AT_BUILD: [&str; 2] = ["build_dir", "stack_dir"];

/// When a template is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    AtBuild,
    AtRun,
}

impl Source<'_> {
    pub(super) fn template(&self, text: Spanned<String>, known: Known) -> Result<Template, PlanError> {
        let mut rest = text.get_ref().as_str();
        while let Some((_, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else {
                let what = format!("`{{{after}` has no closing }}");
                return Err(self.error(text.span(), what, "close it, or take the { out"));
            };
            let at_run = BUILT_IN.contains(&name)
                || name.starts_with(NAMED_UPSTREAM)
                || self.parameters.iter().any(|own| own == name);
            if !at_run {
                let what = format!("`{{{name}}}` is no placeholder");
                let own = self.parameters.iter().map(String::as_str);
                let all: Vec<String> =
                    BUILT_IN.into_iter().chain(own).map(|name| format!("{{{name}}}")).collect();
                let help = format!("use {}, or declare it in [parameters]", all.join(", "));
                return Err(self.error(text.span(), what, help));
            }
            if known == Known::AtBuild && !AT_BUILD.contains(&name) {
                let what = format!("`{{{name}}}` is not known when a stack is built");
                return Err(self.error(text.span(), what, "use {build_dir} or {stack_dir}"));
            }
            rest = after;
        }
        Ok(Template(text.into_inner()))
    }

    pub(super) fn parameters(
        &self,
        raw: BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> Result<BTreeMap<String, String>, PlanError> {
        raw.into_iter()
            .map(|(name, value)| {
                let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
                let is_word = !name.get_ref().is_empty() && name.get_ref().bytes().all(word);
                if !is_word || BUILT_IN.contains(&name.get_ref().as_str()) {
                    let what = format!("`{}` cannot be the name of a parameter", name.get_ref());
                    let help = "use lower-case letters, digits and _, and no built-in placeholder's name";
                    return Err(self.error(name.span(), what, help));
                }
                if value.get_ref().contains(['{', '}']) {
                    let help = "write the value itself; parameters are filled in once";
                    return Err(self.error(value.span(), "a parameter holds a placeholder", help));
                }
                Ok((name.into_inner(), value.into_inner()))
            })
            .collect()
    }

    /// What is declared is used: a parameter that nothing reads would be varied without effect.
    pub(super) fn uses(
        &self,
        run: &Run,
        files: &[ConfigFile],
        upstream: Option<&Spanned<RawUpstreams>>,
    ) -> Result<(), PlanError> {
        let mut texts: Vec<String> = run.templates().map(|template| template.0.clone()).collect();
        for file in files {
            texts.push(toml_file::read(&file.template)?);
        }
        let used = |name: &str| texts.iter().any(|text| text.contains(&format!("{{{name}}}")));
        if let Some(unused) = self.parameters.iter().find(|name| !used(name)) {
            let what = format!("the parameter `{unused}` is used nowhere");
            let help = format!("write {{{unused}}} in the command, in env or in a [[file]], or remove it");
            return Err(PlanError::new(what, help).in_file(self.file));
        }
        self.tells_upstreams(upstream, &texts)
    }
}
