//! An experiment of two stacks at a load that was recorded: what an intervention is measured by.

use record::{Load, Measured};

use crate::error::LabError;

/// Blocks of it: three show a factor of two, and each takes two boots.
const BLOCKS: u32 = 3;

/// The experiment that measures `stacks` side by side on `endpoint` as `measured` was, as TOML.
pub(crate) fn experiment_text(
    title: &str,
    endpoint: &str,
    measured: &Measured,
    stacks: [&str; 2],
) -> Result<String, LabError> {
    let load = &measured.load.load;
    if load.rate_per_s.is_some() || load.ramp_up_s.is_some() || load.requests_per_user.is_some() {
        let what = format!("`{}` is no closed load of users who stay", load.label);
        return Err(LabError::NotRepeatable { what });
    }
    let warm_up = match &measured.warm_up {
        Some(_) => "steady".to_owned(),
        None => seconds(load.warm_up_s),
    };
    let duration_s = load.duration_s.unwrap_or(measured.load.window.duration_s);
    let think = load
        .think_us
        .filter(|us| *us > 0.0)
        .map_or_else(String::new, |us| format!("think = {}\n", quoted(&seconds(us / 1e6))));
    let Load { connections, threads, timeout_s, .. } = load;
    Ok(format!(
        "title = {}\nblocks = {BLOCKS}\nblocks_max = {BLOCKS}\ntwin = false\ncontrol = false\n\n\
         [load]\nconnections = [{connections}]\nthreads = {threads}\nwarm_up = {}\nduration = {}\ntimeout = {}\n{think}\n\
         [[round]]\nname = \"confirm\"\nendpoint = {}\nstacks = [{}, {}]\n",
        quoted(title),
        quoted(&warm_up),
        quoted(&seconds(duration_s)),
        quoted(&seconds(*timeout_s)),
        quoted(endpoint),
        quoted(stacks[0]),
        quoted(stacks[1]),
    ))
}

/// Milliseconds are as exact as such times are written.
fn seconds(seconds: f64) -> String {
    format!("{:.0}ms", seconds * 1e3)
}

/// A string of JSON is one of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
