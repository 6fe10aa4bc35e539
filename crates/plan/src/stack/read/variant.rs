//! Variants of a stack, and which limit each of them changes.

use std::num::NonZeroU64;

use toml::Spanned;
use units::Bytes;

use super::super::raw::{RawIntervention, RawSize, RawVariant};
use super::super::{
    Factor, Intervention, InterventionOn, LimitChange, Origin, ReadyWhen, StackManifest, Variant,
};
use super::placeholders::Known;
use super::{HELP_PLAIN, Source, is_plain};
use crate::error::PlanError;
use crate::nearest;

impl Source<'_> {
    /// The variant `raw` of the stack that `all` begins with.
    pub(super) fn variant(&self, raw: RawVariant, all: &[StackManifest]) -> Result<StackManifest, PlanError> {
        let stack = &all[0];
        let at = raw.name.span();
        let name = self.not_empty(raw.name)?;
        let id = format!("{}@{name}", stack.id);
        if !is_plain(&name) {
            return Err(self.error(at, format!("`{name}` cannot be the name of a variant"), HELP_PLAIN));
        }
        if all.iter().any(|earlier| earlier.id == id) {
            let what = format!("a second variant is called `{name}`");
            return Err(self.error(at, what, "give it a name of its own"));
        }
        if let Some(unknown) = raw.parameters.keys().find(|key| !self.parameters.contains(key.get_ref())) {
            let what = format!("the stack has no parameter `{}`", unknown.get_ref());
            let known = self.parameters.iter().map(String::as_str);
            let help = nearest::help(unknown.get_ref(), known, "declare it in [parameters]");
            return Err(self.error(unknown.span(), what, help));
        }
        if let Some(upstream) = raw.upstream.as_ref().filter(|_| stack.upstreams.is_empty()) {
            let what = "the stack has no upstream that a variant could change";
            return Err(self.error(upstream.span(), what, "name one for the stack, too"));
        }
        let mut variant = stack.clone();
        variant.parameters.extend(self.parameters(raw.parameters)?);
        variant.limits = self.limits(raw.limits, stack.limits)?;
        if let (Some(flags), Origin::Started(run)) = (raw.jvm_flags, &mut variant.origin) {
            if let Some(flag) = flags.first().filter(|_| !run.is_java()) {
                let what = format!("`{}` takes no JVM flags", run.command[0].as_str());
                return Err(self.error(flag.span(), what, "leave jvm_flags out"));
            }
            let flags = flags.into_iter().map(|flag| self.template(flag, Known::AtRun));
            run.jvm_flags = flags.collect::<Result<_, _>>()?;
        }
        if let Some(upstream) = raw.upstream {
            variant.upstreams = self.other_upstreams(&upstream, &stack.upstreams)?;
        }
        if raw.requests_per_connection.is_some() {
            variant.requests_per_connection = self.cap(raw.requests_per_connection)?;
        }
        if !raw.endpoints.is_empty() {
            variant.endpoints = self.endpoints(raw.endpoints)?;
            // A stack that names another path for that is asked for it, whatever its endpoints are.
            let first = stack.endpoints.first().map(|it| it.path.as_str());
            if let ReadyWhen::Answers { path, status } = &mut variant.ready.when
                && first == Some(path.as_str())
            {
                path.clone_from(&variant.endpoints[0].path);
                *status = variant.endpoints[0].status;
            }
        }
        if Self::runs_like(&variant, stack) {
            let what = format!("the variant `{name}` runs as the stack itself does");
            return Err(self.error(at, what, "change a parameter, the JVM flags, a limit or the upstream"));
        }
        let description = self.not_empty(raw.description)?;
        let intervention = raw.intervention.map(|raw| self.intervention(raw)).transpose()?;
        variant.variant = Some(Variant { of: stack.id.clone(), name, description, intervention });
        variant.id = id;
        Ok(variant)
    }

    fn intervention(&self, raw: Spanned<RawIntervention>) -> Result<Intervention, PlanError> {
        let at = raw.span();
        let RawIntervention { on, factor, to, threads } = raw.into_inner();
        if let Some(threads) = threads.as_ref().filter(|_| on != InterventionOn::Pool) {
            let help = "only those of a pool have a name of their own; leave it out";
            return Err(self.error(threads.span(), format!("`{on}` has no threads"), help));
        }
        let at_size = factor.as_ref().map(Spanned::span).or_else(|| to.as_ref().map(Spanned::span));
        if let Some(at) = at_size.filter(|_| on == InterventionOn::Collector) {
            return Err(self.error(at, "a collector has no size", "leave `factor` and `to` out"));
        }
        let change = match (factor, to) {
            (Some(_), Some(to)) => {
                let help = "keep `to` where the variant sets a size of its own, and `factor` otherwise";
                return Err(self.error(to.span(), "by how much it is changed is said twice", help));
            }
            (Some(factor), None) => self.factor(&factor)?,
            (None, Some(to)) => self.size(on, &to)?,
            (None, None) if on.may_lack_size() => LimitChange::Unsized,
            (None, None) => {
                let what = format!("by how much `{on}` is changed is not said");
                return Err(self.error(at, what, "add `to`, the size it has then, or `factor`"));
            }
        };
        let threads = threads.map(|names| self.not_empty(names)).transpose()?;
        Ok(Intervention { on, change, threads })
    }

    fn factor(&self, factor: &Spanned<f64>) -> Result<LimitChange, PlanError> {
        let what = || format!("{} times as much is no change of a limit", factor.get_ref());
        let help = "write a number above 0, other than 1";
        let valid = Factor::new(*factor.get_ref()).map(LimitChange::Factor);
        valid.ok_or_else(|| self.error(factor.span(), what(), help))
    }

    fn size(&self, on: InterventionOn, to: &Spanned<RawSize>) -> Result<LimitChange, PlanError> {
        let size = match (on, to.get_ref()) {
            (InterventionOn::Heap, RawSize::Amount(text)) => {
                text.parse().ok().filter(|it| *it > Bytes(0)).map(LimitChange::ToBytes)
            }
            (InterventionOn::Heap, RawSize::Count(_)) | (_, RawSize::Fraction(_) | RawSize::Amount(_)) => {
                None
            }
            (_, RawSize::Count(count)) => {
                u64::try_from(*count).ok().and_then(NonZeroU64::new).map(LimitChange::To)
            }
        };
        let help = match on {
            InterventionOn::Heap => "write it with its unit, such as \"256MiB\"",
            _ => "write a whole number from 1",
        };
        size.ok_or_else(|| self.error(to.span(), format!("this is no size of `{on}`"), help))
    }

    fn runs_like(one: &StackManifest, other: &StackManifest) -> bool {
        (&one.parameters, &one.origin, &one.upstreams, one.limits)
            == (&other.parameters, &other.origin, &other.upstreams, other.limits)
    }
}
