//! What is started: how it is built and run.

use std::path::PathBuf;

use toml::Spanned;
use units::Duration;

use super::super::raw::{RawBuild, RawRun, RawUpstreams};
use super::super::{Build, ConfigFile, Origin, Run, Spoken, Template, is_java};
use super::Source;
use super::placeholders::Known;
use crate::error::PlanError;

/// What is started has its program to load first, as a JVM does.
pub(super) const READY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);

impl Source<'_> {
    /// What is started, and told where to listen.
    pub(super) fn started(
        &self,
        raw: Option<Spanned<RawRun>>,
        files: &[ConfigFile],
        upstream: Option<&Spanned<RawUpstreams>>,
    ) -> Result<(Origin, Spoken), PlanError> {
        let Some(raw) = raw else {
            let help = "add [run] with the command that starts it, or url = \"http://…\" where it is running already";
            return Err(PlanError::new(format!("`{}` has no [run]", self.id), help).in_file(self.file));
        };
        let at_run = raw.span();
        let mut raw = raw.into_inner();
        let spoken = self.spoken(raw.scheme, raw.protocol.take())?;
        let run = self.run(raw)?;
        let says_port = |template: &Template| template.0.contains("{port}");
        let is_told = run.port.is_some() || run.command.iter().chain(run.env.values()).any(says_port);
        if files.is_empty() && !is_told {
            let help = "put {port} into its command, its env, or a [[file]] that it reads; or say port = 8080 in [run] \
                        where it always listens at the same";
            return Err(self.error(at_run, "the stack is not told where to listen", help));
        }
        self.uses(&run, files, upstream)?;
        Ok((Origin::Started(run), spoken))
    }

    pub(super) fn build(&self, raw: RawBuild) -> Result<Build, PlanError> {
        let (relative, at_dir) = match raw.dir {
            Some(dir) => (dir.get_ref().clone(), dir.span()),
            None => (PathBuf::from("."), raw.command.span()),
        };
        let dir = self.dir.join(&relative).canonicalize().map_err(|error| {
            let what = format!("the build's folder `{}` cannot be read ({error})", relative.display());
            self.error(at_dir, what, "name an existing folder, relative to the manifest's")
        })?;
        if raw.inputs.get_ref().is_empty() {
            let help = "list the files and folders that the build reads, or it is never built again";
            return Err(self.error(raw.inputs.span(), "the build has no inputs", help));
        }
        let inputs = raw.inputs.into_inner().into_iter().map(|input| {
            let path = dir.join(input.get_ref());
            if path.exists() {
                return Ok(path);
            }
            let what = format!("there is no `{}` in {}", input.get_ref().display(), dir.display());
            Err(self.error(input.span(), what, "name an existing file or folder, relative to the build's"))
        });
        let build_dir = self.own_build_dir.clone().unwrap_or_else(|| dir.join("build"));
        Ok(Build {
            inputs: inputs.collect::<Result<_, _>>()?,
            command: self.command(raw.command, Known::AtBuild)?,
            output: build_dir.join(raw.output.get_ref()),
            dir,
            build_dir,
        })
    }

    fn run(&self, raw: RawRun) -> Result<Run, PlanError> {
        let at_command = raw.command.span();
        let misplaced =
            raw.command.get_ref().iter().find(|argument| argument.get_ref().starts_with("-X")).cloned();
        let command = self.command(raw.command, Known::AtRun)?;
        let is_java = is_java(&command[0]);
        if let Some(flag) = misplaced.filter(|_| is_java) {
            let what = format!("`{}` is a JVM flag", flag.get_ref());
            return Err(self.error(
                flag.span(),
                what,
                "move it to jvm_flags, which go before the class or jar",
            ));
        }
        if !raw.jvm_flags.is_empty() && !is_java {
            let what = format!("`{}` takes no JVM flags", command[0].as_str());
            return Err(self.error(at_command, what, "start it with java, or leave jvm_flags out"));
        }
        let dir = raw.dir.map(|dir| {
            self.dir.join(dir.get_ref()).canonicalize().map_err(|error| {
                let what = format!("the folder `{}` cannot be read ({error})", dir.get_ref().display());
                self.error(dir.span(), what, "name an existing folder, relative to the manifest's")
            })
        });
        let jvm_flags = raw.jvm_flags.into_iter().map(|flag| self.template(flag, Known::AtRun));
        let env = raw.env.into_iter().map(|(name, value)| Ok((name, self.template(value, Known::AtRun)?)));
        Ok(Run {
            command,
            jvm_flags: jvm_flags.collect::<Result<_, _>>()?,
            env: env.collect::<Result<_, _>>()?,
            dir: dir.transpose()?,
            port: raw.port,
        })
    }

    fn command(&self, raw: Spanned<Vec<Spanned<String>>>, known: Known) -> Result<Vec<Template>, PlanError> {
        let at = raw.span();
        if raw.get_ref().first().is_none_or(|program| program.get_ref().is_empty()) {
            let help = "write the program and its arguments, each as its own text";
            return Err(self.error(at, "the command has no program", help));
        }
        raw.into_inner().into_iter().map(|text| self.template(text, known)).collect()
    }
}
