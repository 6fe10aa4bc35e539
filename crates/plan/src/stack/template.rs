//! Texts with placeholders.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

/// A text with placeholders, all of them known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(pub(super) String);

/// Where the stacks behind one listen, by their ids; the one that requests are forwarded to is the first.
#[derive(Debug, Clone, Default)]
pub struct Upstreams(pub Vec<(String, SocketAddr)>);

impl Upstreams {
    /// Of the one that has this name, whichever its variant.
    fn get(&self, name: &str) -> Option<SocketAddr> {
        self.0.iter().find(|(id, _)| without_variant(id) == name).map(|(_, addr)| *addr)
    }
}

/// The stack of an id: `cache` of `cache@big`.
pub(super) fn without_variant(id: &str) -> &str {
    id.split_once('@').map_or(id, |(stack, _)| stack)
}

/// What the placeholders of a [`Template`] stand for in one trial.
#[derive(Debug, Clone)]
pub struct Placeholders<'a> {
    /// `{address}` and `{port}`: where the stack listens. `None` for a build, which has none.
    pub listen: Option<SocketAddr>,
    /// `{upstream}` and `{upstream.NAME}`: where the stacks behind it listen, as `host:port`.
    pub upstreams: &'a Upstreams,
    /// `{proofload}`: the running `proofload` binary.
    pub proofload: &'a Path,
    /// `{stack_dir}`: the manifest's folder.
    pub stack_dir: &'a Path,
    /// `{build_dir}`: the folder `build` in the build's folder, or in the stack's where there is no build.
    pub build_dir: &'a Path,
    /// `{work_dir}`: an empty folder of the trial's own.
    pub work_dir: &'a Path,
    /// The stack's own placeholders and their values.
    pub parameters: &'a BTreeMap<String, String>,
}

impl Placeholders<'_> {
    /// `text` with every known placeholder filled in. Other braces, as a configuration file may have, stay.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            filled.push_str(before);
            let known = from.split_once('}').and_then(|(name, after)| Some((self.value(name)?, after)));
            if let Some((value, after)) = known {
                filled.push_str(&value);
                rest = after;
            } else {
                filled.push('{');
                rest = from;
            }
        }
        filled.push_str(rest);
        filled
    }

    fn value(&self, name: &str) -> Option<String> {
        let path = |path: &Path| Some(path.to_string_lossy().into_owned());
        match name {
            "address" => self.listen.map(|addr| addr.ip().to_string()),
            "port" => self.listen.map(|addr| addr.port().to_string()),
            "upstream" => self.upstreams.0.first().map(|(_, addr)| addr.to_string()),
            "proofload" => path(self.proofload),
            "stack_dir" => path(self.stack_dir),
            "build_dir" => path(self.build_dir),
            "work_dir" => path(self.work_dir),
            own => {
                let upstream = own.strip_prefix("upstream.").and_then(|name| self.upstreams.get(name));
                upstream.map(|addr| addr.to_string()).or_else(|| self.parameters.get(own).cloned())
            }
        }
    }
}

impl Template {
    /// The text with its placeholders filled in.
    pub fn fill(&self, with: &Placeholders<'_>) -> String {
        with.fill(&self.0)
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let path = Path::new("/somewhere");
        let parameters = BTreeMap::from([("threads".to_owned(), "200".to_owned())]);
        let upstreams = [("db@big", 81), ("cache", 82)];
        let upstreams = upstreams.map(|(id, port)| (id.to_owned(), ([127, 0, 0, 1], port).into()));
        let with = Placeholders {
            listen: Some(([10, 0, 0, 7], 8080).into()),
            upstreams: &Upstreams(upstreams.to_vec()),
            proofload: path,
            stack_dir: path,
            build_dir: path,
            work_dir: path,
            parameters: &parameters,
        };
        assert_eq!(
            with.fill(
                "server { listen {address}:{port}; root {work_dir}/x; } {upstream} {upstream.cache} {upstream.db} {threads} {upstream.x} {"
            ),
            "server { listen 10.0.0.7:8080; root /somewhere/x; } 127.0.0.1:81 127.0.0.1:82 127.0.0.1:81 200 {upstream.x} {"
        );
    }
}
