//! Why pods do not run: from what the cluster says of them to what a user can do about it.

use k8s_openapi::api::core::v1::{ContainerState, ContainerStateTerminated, Event, Pod, PodCondition};

use crate::error::Error;
use crate::job::INDEX_ANNOTATION;

/// Characters of a message that are shown: of a log's end, or of what a scheduler says of a thousand nodes.
const SHOWN_CHARACTERS_MAX: usize = 400;

/// Why a container waits for ever: its image.
pub(crate) const OF_IMAGE: [&str; 4] =
    ["ErrImageNeverPull", "ImagePullBackOff", "InvalidImageName", "ImageInspectError"];
/// The same, as long as it may still come.
const PULLED_AGAIN: &str = "ErrImagePull";
/// Why it waits for ever: itself.
pub(crate) const OF_CONTAINER: [&str; 4] =
    ["CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreStartHookError"];

/// A pod that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) node: String,
}

/// How far the pods of a Job are.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    wanted: u32,
    pub(crate) running: Vec<Running>,
    /// Why others do not, and how many.
    waiting: Vec<(String, u32)>,
}

impl Gathered {
    /// From the Job's pods, and what the cluster warned of.
    ///
    /// # Errors
    /// If it can't be waited for any more.
    pub(crate) fn look(wanted: u32, job: &str, pods: &[Pod], warnings: &[Event]) -> Result<Self, Error> {
        let mut gathered = Self { wanted, ..Self::default() };
        for pod in pods {
            match stand(pod, warnings)? {
                Stand::Runs(running) => gathered.running.push(running),
                Stand::Waits(why) => gathered.wait(why, 1),
                Stand::Gone => {}
            }
        }
        let seen = gathered.running.len() as u32 + gathered.waiting.iter().map(|it| it.1).sum::<u32>();
        if let missing @ 1.. = wanted.saturating_sub(seen) {
            gathered.wait(why_not_created(job, warnings)?, missing);
        }
        gathered.running.sort_by_key(|it| it.index);
        Ok(gathered)
    }

    /// Whether all run, each with a share of its own.
    pub(crate) fn is_complete(&self) -> bool {
        self.running.iter().map(|it| it.index).eq(0..self.wanted as usize)
    }

    fn wait(&mut self, why: String, count: u32) {
        match self.waiting.iter_mut().find(|it| it.0 == why) {
            Some(known) => known.1 += count,
            None => self.waiting.push((why, count)),
        }
    }

    /// How far they are, in words.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{} of {} pods run", self.running.len(), self.wanted);
        for (why, count) in &self.waiting {
            let wait = if *count == 1 { "waits" } else { "wait" };
            text = format!("{text}; {count} {wait}: {}", why.trim_end_matches('.'));
        }
        text
    }
}

enum Stand {
    Runs(Running),
    Waits(String),
    /// It is on its way out, and another may take its place.
    Gone,
}

fn stand(pod: &Pod, warnings: &[Event]) -> Result<Stand, Error> {
    if let Some(why) = ended(pod) {
        return Err(Error::Ended { pod: called(pod), why });
    }
    if pod.metadata.deletion_timestamp.is_some() {
        return Ok(Stand::Gone);
    }
    let waiting = container_state(pod).and_then(|it| it.waiting.as_ref());
    if let Some(reason) = waiting.and_then(|it| it.reason.as_deref()) {
        let words = waiting.and_then(|it| it.message.as_deref()).unwrap_or(reason);
        if OF_IMAGE.contains(&reason) {
            return Err(Error::Image { image: image(pod), why: short(&pull_failure(pod, words, warnings)) });
        }
        if OF_CONTAINER.contains(&reason) {
            let why = format!("cannot be started ({reason}: {})", short(words));
            return Err(Error::Ended { pod: called(pod), why });
        }
        if reason == PULLED_AGAIN {
            return Ok(Stand::Waits(short(words)));
        }
    }
    if container_state(pod).is_some_and(|it| it.running.is_some()) {
        return Ok(index(pod).map_or(Stand::Gone, |index| Stand::Runs(running(pod, index))));
    }
    Ok(Stand::Waits(why_pending(pod, warnings)))
}

/// Why a pod has ended, or is about to: what follows its name. `None` while it goes on.
pub(crate) fn ended(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    if let Some(terminated) = container_state(pod).and_then(|it| it.terminated.as_ref()) {
        return Some(terminated_words(terminated));
    }
    if let Some(disrupted) = condition(pod, "DisruptionTarget").filter(|it| it.status == "True") {
        return Some(format!("is taken away ({})", condition_words(disrupted)));
    }
    matches!(status.phase.as_deref(), Some("Failed" | "Succeeded")).then(|| {
        let words = [&status.reason, &status.message].into_iter().flatten().cloned().collect::<Vec<_>>();
        if words.is_empty() { "ended".to_owned() } else { format!("ended ({})", short(&words.join(": "))) }
    })
}

pub(crate) fn terminated_words(terminated: &ContainerStateTerminated) -> String {
    let reason = terminated.reason.as_deref().filter(|it| !matches!(*it, "Error" | "Completed"));
    let how = match (reason, terminated.exit_code) {
        (Some(reason), code) => format!("{reason}, exit code {code}"),
        (None, code) => format!("exit code {code}"),
    };
    match terminated.message.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        Some(said) => format!("ended ({how}): {}", short_end(said)),
        None => format!("ended ({how})"),
    }
}

/// Why a pod that was created does not run yet.
fn why_pending(pod: &Pod, warnings: &[Event]) -> String {
    if let Some(unscheduled) = condition(pod, "PodScheduled").filter(|it| it.status == "False") {
        return short(&condition_words(unscheduled));
    }
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    match last_warning(name, warnings) {
        // A volume or a network that can't be had, and the like.
        Some(warning) => short(warning),
        None if pod.spec.as_ref().is_some_and(|it| it.node_name.is_some()) => "being started".to_owned(),
        None => "no node is chosen yet".to_owned(),
    }
}

/// Why the Job's controller did not create a pod.
fn why_not_created(job: &str, warnings: &[Event]) -> Result<String, Error> {
    match last_warning(job, warnings) {
        Some(said) if said.contains("exceeded quota") => Err(Error::Quota(short(said))),
        Some(said) if said.contains("violates PodSecurity") || said.contains("denied the request") => {
            Err(Error::NotAdmitted(short(said)))
        }
        Some(said) => Ok(short(said)),
        None => Ok("not created yet".to_owned()),
    }
}

/// What the kubelet said of a pull that failed: a back-off alone does not say it.
fn pull_failure(pod: &Pod, words: &str, warnings: &[Event]) -> String {
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let failed = |it: &&Event| {
        it.involved_object.name.as_deref() == Some(name)
            && it.message.as_deref().is_some_and(|said| said.starts_with("Failed to pull image"))
    };
    warnings.iter().rfind(failed).and_then(|it| it.message.clone()).unwrap_or_else(|| words.to_owned())
}

fn last_warning<'a>(of: &str, warnings: &'a [Event]) -> Option<&'a str> {
    let warning = warnings.iter().rfind(|it| it.involved_object.name.as_deref() == Some(of))?;
    warning.message.as_deref()
}

fn container_state(pod: &Pod) -> Option<&ContainerState> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()?.state.as_ref()
}

fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|it| it.type_ == kind)
}

fn condition_words(condition: &PodCondition) -> String {
    condition.message.clone().or_else(|| condition.reason.clone()).unwrap_or_else(|| condition.type_.clone())
}

fn image(pod: &Pod) -> String {
    let image = || pod.spec.as_ref()?.containers.first()?.image.clone();
    image().unwrap_or_default()
}

fn index(pod: &Pod) -> Option<usize> {
    pod.metadata.annotations.as_ref()?.get(INDEX_ANNOTATION)?.parse().ok()
}

fn running(pod: &Pod, index: usize) -> Running {
    let node = pod.spec.as_ref().and_then(|it| it.node_name.clone()).unwrap_or_default();
    Running { index, name: pod.metadata.name.clone().unwrap_or_default(), node }
}

fn called(pod: &Pod) -> String {
    let Running { name, node, .. } = running(pod, 0);
    if node.is_empty() { format!("pod {name}") } else { format!("pod {name} on {node}") }
}

/// The beginning of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text,
    }
}

/// The end of a text, where a log says what it ended with.
fn short_end(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth_back(SHOWN_CHARACTERS_MAX) {
        Some((at, _)) => format!("… {}", &text[at..]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const JOB: &str = "proofload-k3x9";

    /// A pod as the API tells of it, of this index, with this status.
    fn pod(index: usize, status: &Value) -> Pod {
        let pod = json!({
            "metadata": {
                "name": format!("{JOB}-{index}-abcde"),
                "annotations": {INDEX_ANNOTATION: index.to_string()},
            },
            "spec": {"nodeName": "n1", "containers": [{"name": "agent", "image": "proofload:1"}]},
            "status": status,
        });
        serde_json::from_value(pod).unwrap()
    }

    fn in_state(index: usize, state: &Value) -> Pod {
        let container = json!({
            "name": "agent", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": state,
        });
        pod(index, &json!({"phase": "Running", "containerStatuses": [container]}))
    }

    fn runs(index: usize) -> Pod {
        in_state(index, &json!({"running": {}}))
    }

    fn warning(of: &str, message: &str) -> Event {
        serde_json::from_value(json!({
            "metadata": {"name": "e"}, "involvedObject": {"name": of}, "message": message, "type": "Warning",
        }))
        .unwrap()
    }

    fn look(pods: &[Pod], warnings: &[Event]) -> Result<Gathered, Error> {
        Gathered::look(pods.len().max(3) as u32, JOB, pods, warnings)
    }

    fn told(pods: &[Pod], warnings: &[Event]) -> String {
        look(pods, warnings).expect("it is waited for").text()
    }

    #[test]
    fn all_run_when_each_share_has_its_pod() {
        let all = look(&[runs(2), runs(0), runs(1)], &[]).unwrap();
        assert!(all.is_complete());
        assert_eq!(all.running.iter().map(|it| it.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(all.running[0].name, "proofload-k3x9-0-abcde");
        assert!(!look(&[runs(0), runs(1)], &[]).unwrap().is_complete());
        assert!(!look(&[runs(0), runs(1), runs(1)], &[]).unwrap().is_complete(), "two of one share");
    }

    #[test]
    fn why_pods_wait_is_told_with_how_many_do() {
        let unscheduled = json!({"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/3 nodes are available: 3 Insufficient cpu.",
        }]});
        let text = told(&[runs(0), pod(1, &unscheduled), pod(2, &unscheduled)], &[]);
        assert_eq!(text, "1 of 3 pods run; 2 wait: 0/3 nodes are available: 3 Insufficient cpu");
        let text = told(&[runs(0), runs(1)], &[]);
        assert_eq!(text, "2 of 3 pods run; 1 waits: not created yet");
        let creating = in_state(2, &json!({"waiting": {"reason": "ContainerCreating"}}));
        assert!(told(&[runs(0), runs(1), creating.clone()], &[]).ends_with("1 waits: being started"));
        let sandbox = warning("proofload-k3x9-2-abcde", "Failed to create pod sandbox: no network");
        assert!(told(&[runs(0), runs(1), creating], &[sandbox]).ends_with("sandbox: no network"));
    }

    #[test]
    fn what_can_t_be_waited_for_is_an_error_at_once() {
        let quota =
            warning(JOB, "Error creating: pods \"x\" is forbidden: exceeded quota: few, used: pods=2");
        assert!(matches!(look(&[runs(0), runs(1)], &[quota]), Err(Error::Quota(why)) if why.contains("few")));
        let security =
            warning(JOB, "Error creating: pods \"x\" is forbidden: violates PodSecurity \"restricted\"");
        assert!(matches!(look(&[], &[security]), Err(Error::NotAdmitted(_))));
        let account = warning(JOB, "Error creating: serviceaccount \"default\" not found");
        assert!(told(&[], &[account]).contains("serviceaccount"), "it comes a moment after the namespace");
    }

    #[test]
    fn an_image_that_can_t_be_had_is_told_in_the_kubelet_s_words() {
        let waiting = |reason: &str, message: &str| {
            in_state(0, &json!({"waiting": {"reason": reason, "message": message}}))
        };
        let back_off = waiting("ImagePullBackOff", "Back-off pulling image \"proofload:1\"");
        let pulled = warning(
            "proofload-k3x9-0-abcde",
            "Failed to pull image \"proofload:1\": not found: proofload:1 does not exist",
        );
        let error = look(std::slice::from_ref(&back_off), &[pulled]).unwrap_err().to_string();
        assert!(error.starts_with("the image proofload:1 cannot be had: Failed to pull"), "{error}");
        assert!(error.contains("does not exist"), "{error}");
        let error = look(&[back_off], &[]).unwrap_err().to_string();
        assert!(error.contains("Back-off pulling"), "{error}");
        assert!(matches!(
            look(&[waiting("ErrImageNeverPull", "is not present with pull policy of Never")], &[]),
            Err(Error::Image { .. })
        ));
        let once = waiting("ErrImagePull", "the registry is busy");
        assert!(told(&[once], &[]).contains("the registry is busy"), "it is pulled again");
        let root = waiting("CreateContainerConfigError", "image will run as root");
        assert!(matches!(look(&[root], &[]), Err(Error::Ended { .. })));
    }

    #[test]
    fn a_pod_that_ended_is_told_with_how_and_what_it_said_last() {
        let state = |code: i32, reason: &str, message: &str| json!({"terminated": {"exitCode": code, "reason": reason, "message": message}});
        let other = in_state(0, &state(2, "Error", "error: unexpected argument '--listen' found"));
        let error = look(&[other], &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("pod proofload-k3x9-0-abcde on n1 ended (exit code 2): error: "),
            "{error}"
        );
        let killed = in_state(0, &state(137, "OOMKilled", ""));
        assert_eq!(ended(&killed).unwrap(), "ended (OOMKilled, exit code 137)");
        let evicted = pod(0, &json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}));
        assert_eq!(ended(&evicted).unwrap(), "ended (Evicted: low on memory)");
        let tainted = pod(
            0,
            &json!({"phase": "Running", "conditions": [{
                "type": "DisruptionTarget", "status": "True", "message": "Taint manager: deleting due to NoExecute taint",
            }]}),
        );
        assert!(ended(&tainted).unwrap().starts_with("is taken away (Taint manager"));
        assert_eq!(ended(&runs(0)), None);
    }

    #[test]
    fn long_words_are_cut() {
        let long = "å ".repeat(1000);
        assert!(short(&long).chars().count() <= SHOWN_CHARACTERS_MAX + 2);
        assert!(short_end(&long).starts_with("… "));
        assert_eq!((short("a\n b"), short_end("a\n b")), ("a b".to_owned(), "a b".to_owned()));
    }
}
