//! What stands behind a stack: which stacks these are, and where it is told of them.

use toml::Spanned;

use super::super::raw::RawUpstreams;
use super::super::template::without_variant;
use super::Source;
use crate::error::PlanError;

/// Behind which stands the name of a stack in a placeholder.
pub(super) const NAMED_UPSTREAM: &str = "upstream.";

/// The first placeholder of `text` for an upstream that is not among `names`. One that is alone has no need of its name, and a
/// variant may have another in its place.
fn unknown_upstream<'a>(text: &'a str, names: &[String]) -> Option<&'a str> {
    let is_known = |told: &str| names.len() > 1 && names.iter().any(|name| without_variant(name) == told);
    let placeholders = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    placeholders.into_iter().find(|placeholder| match placeholder.strip_prefix(NAMED_UPSTREAM) {
        Some(told) => !is_known(told),
        None => *placeholder == "upstream" && names.is_empty(),
    })
}

impl Source<'_> {
    /// Each is told, and no other is asked for. `texts` are all that have placeholders.
    pub(super) fn tells_upstreams(
        &self,
        upstream: Option<&Spanned<RawUpstreams>>,
        texts: &[String],
    ) -> Result<(), PlanError> {
        let used = |name: &str| texts.iter().any(|text| text.contains(&format!("{{{name}}}")));
        let names = upstream.map_or(&[][..], |it| it.get_ref().names());
        if let Some(unknown) = texts.iter().find_map(|text| unknown_upstream(text, names)) {
            let what = format!("{{{unknown}}} is used, and no upstream is named");
            let (what, help) = match names {
                [] => (what, "name the stack behind it: upstream = \"…\""),
                [_] => (format!("{{{unknown}}} is used, and there is one upstream"), "write {upstream}"),
                _ => (what + " so", "write one of those behind upstream = […]"),
            };
            return Err(PlanError::new(what, help).in_file(self.file));
        }
        let is_told = |(index, name): (usize, &String)| {
            used(&format!("upstream.{}", without_variant(name))) || index == 0 && used("upstream")
        };
        match upstream {
            Some(upstream) if !names.iter().enumerate().all(is_told) => {
                let help = match names {
                    [_] => "write {upstream} where it is told what to forward to".to_owned(),
                    _ => format!(
                        "write {{upstream.{}}} and the like where it is told",
                        without_variant(&names[0])
                    ),
                };
                Err(self.error(upstream.span(), "the stack is not told where its upstream is", help))
            }
            _ => Ok(()),
        }
    }

    /// What stands behind it, each once.
    pub(super) fn upstreams(&self, raw: Option<&Spanned<RawUpstreams>>) -> Result<Vec<String>, PlanError> {
        let Some(raw) = raw else { return Ok(Vec::new()) };
        let names = raw.get_ref().names();
        let is_second = |(index, name): (usize, &String)| {
            names[..index].iter().any(|earlier| without_variant(earlier) == without_variant(name))
        };
        if names.is_empty() || names.iter().enumerate().any(is_second) {
            let help = "name each stack behind it once, the one that requests go to first: upstream = [\"db\", \"cache\"]";
            return Err(self.error(raw.span(), "these are no stacks to stand behind it", help));
        }
        Ok(names.to_vec())
    }

    /// Those of a variant, which are told to it by the placeholders of the stack: where there is one, any other; where there are
    /// several, variants of these.
    pub(super) fn other_upstreams(
        &self,
        raw: &Spanned<RawUpstreams>,
        before: &[String],
    ) -> Result<Vec<String>, PlanError> {
        let names = self.upstreams(Some(raw))?;
        let is_same = |(one, other): (&String, &String)| without_variant(one) == without_variant(other);
        let fits =
            names.len() == before.len() && (before.len() == 1 || names.iter().zip(before).all(is_same));
        let help =
            "name as many as the stack does; where these are several, variants of the same in the same order";
        fits.then_some(names)
            .ok_or_else(|| self.error(raw.span(), "these can't stand for the stack's upstreams", help))
    }
}
