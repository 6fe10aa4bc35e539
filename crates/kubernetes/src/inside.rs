//! The container that looks at a server from within its pod: what it is, and how far it is.

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use serde_json::{Value, json};

use crate::error::Error;
use crate::metrics::{NAME_BYTES_MAX, cpu_limit_cores, cpu_limit_of};
use crate::reasons::{OF_CONTAINER, OF_IMAGE, short, terminated_words};

/// Where it listens, on the loopback of its pod.
pub(crate) const WATCHER_PORT: u16 = 7781;
/// Whom it runs as where the pod lets nobody run as root and does not say as whom else: nobody in particular.
const USER: i64 = 65532;
/// Where a pod says which of its containers is meant where none is named.
const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// A pod of the server, and the container of it that is looked at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inside {
    pub(crate) pod: String,
    pub(crate) container: String,
    /// Of what is looked at.
    pub(crate) cpu_limit_cores: Option<f64>,
    /// Whether its containers see each other's processes, so that all of them are looked at.
    pub(crate) is_shared: bool,
    security: Value,
}

/// How far a container is that was put into a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Waits,
    Runs,
    /// It will not, and why.
    Fails(String),
}

impl Inside {
    /// The container of a pod that is called so, or the one that is meant; `None` of a pod that does not run.
    ///
    /// # Errors
    /// If it has none, or several and nobody says which.
    pub(crate) fn of(pod: &Pod, container: Option<&str>) -> Result<Option<Self>, Error> {
        let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
        let is_going = pod.metadata.deletion_timestamp.is_some();
        let name = pod.metadata.name.clone().filter(|it| it.len() <= NAME_BYTES_MAX);
        let (Some(name), Some(spec), Some("Running"), false) = (name, &pod.spec, phase, is_going) else {
            return Ok(None);
        };
        let meant = pod.metadata.annotations.as_ref().and_then(|it| it.get(DEFAULT_CONTAINER));
        let target = target(&name, spec, container, meant.map(String::as_str))?;
        if spec.host_pid == Some(true) {
            let why = "it shares the processes of its node (hostPID)".to_owned();
            return Err(Error::NotWatched { pod: name, why });
        }
        let is_shared = spec.share_process_namespace == Some(true);
        Ok(Some(Self {
            pod: name,
            container: target.name.clone(),
            cpu_limit_cores: if is_shared { cpu_limit_cores(pod) } else { cpu_limit_of(spec, target) },
            is_shared,
            security: security(spec, target),
        }))
    }

    /// What is put into the pod: a container with this name, which looks at the processes of the server's.
    pub(crate) fn patch(&self, name: &str, image: &str, port: u16) -> Value {
        let (listen, port) = (format!("127.0.0.1:{WATCHER_PORT}"), port.to_string());
        json!({"spec": {"ephemeralContainers": [{
            "name": name,
            "image": image,
            "args": ["agent", "--watch", name, "--listen", listen, "--server-port", port],
            "targetContainerName": self.container,
            "securityContext": self.security,
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }]}})
    }
}

fn target<'p>(
    pod: &str,
    spec: &'p PodSpec,
    asked: Option<&str>,
    meant: Option<&str>,
) -> Result<&'p Container, Error> {
    let named = |name: &str| spec.containers.iter().find(|it| it.name == name);
    let names = || spec.containers.iter().map(|it| it.name.clone()).collect();
    if let Some(container) = asked {
        return named(container).ok_or_else(|| Error::NoContainer {
            pod: pod.to_owned(),
            container: container.to_owned(),
            containers: names(),
        });
    }
    match (spec.containers.as_slice(), meant.and_then(named)) {
        (_, Some(meant)) => Ok(meant),
        ([only], None) => Ok(only),
        _ => Err(Error::ManyContainers { pod: pod.to_owned(), containers: names() }),
    }
}

/// The same user with the same capabilities as the server's: only so does the kernel show all of its processes, and what the
/// namespace admits of the server it admits of us.
fn security(spec: &PodSpec, target: &Container) -> Value {
    let (own, of_pod) = (target.security_context.as_ref(), spec.security_context.as_ref());
    let is_not_root =
        own.and_then(|it| it.run_as_non_root).or(of_pod.and_then(|it| it.run_as_non_root)) == Some(true);
    let user = own.and_then(|it| it.run_as_user).or(of_pod.and_then(|it| it.run_as_user));
    let group = own.and_then(|it| it.run_as_group).or(of_pod.and_then(|it| it.run_as_group));
    let mut security = json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            security[key] = value;
        }
    };
    set("runAsNonRoot", is_not_root.then_some(json!(true)));
    set("runAsUser", user.or(is_not_root.then_some(USER)).map(|it| json!(it)));
    set("runAsGroup", group.map(|it| json!(it)));
    set("capabilities", own.and_then(|it| it.capabilities.as_ref()).map(|it| json!(it)));
    security
}

/// How far the container with this name is.
pub(crate) fn stage(pod: &Pod, name: &str) -> Stage {
    let status = pod.status.as_ref();
    let phase = status.and_then(|it| it.phase.as_deref());
    if matches!(phase, Some("Succeeded" | "Failed")) {
        return Stage::Fails("it has ended".to_owned());
    }
    let statuses = status.and_then(|it| it.ephemeral_container_statuses.as_ref()).into_iter().flatten();
    let state = statuses.filter(|it| it.name == name).find_map(|it| it.state.as_ref());
    let Some(state) = state else { return Stage::Waits };
    if let Some(terminated) = &state.terminated {
        return Stage::Fails(format!("the container that looks {}", terminated_words(terminated)));
    }
    if state.running.is_some() {
        return Stage::Runs;
    }
    let waiting = state.waiting.as_ref();
    match waiting.and_then(|it| it.reason.as_deref()) {
        Some(reason) if OF_IMAGE.contains(&reason) || OF_CONTAINER.contains(&reason) => {
            let words = waiting.and_then(|it| it.message.as_deref()).unwrap_or(reason);
            Stage::Fails(format!("the container that looks can't be started ({reason}: {})", short(words)))
        }
        _ => Stage::Waits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(spec: &Value) -> Pod {
        let status = json!({"phase": "Running"});
        serde_json::from_value(json!({"metadata": {"name": "shop-a"}, "spec": spec, "status": status}))
            .unwrap()
    }

    fn inside(spec: &Value) -> Inside {
        Inside::of(&pod(spec), None).unwrap().unwrap()
    }

    #[test]
    fn the_container_is_the_one_that_is_named_or_meant() {
        let two = json!({"containers": [{"name": "shop"}, {"name": "proxy"}]});
        let named = |name: Option<&str>| Inside::of(&pod(&two), name).map(|it| it.unwrap().container);
        assert_eq!(named(Some("proxy")), Ok("proxy".into()));
        let several = named(None).unwrap_err();
        assert!(several.is_usage() && several.to_string().contains("(shop, proxy)"), "{several}");
        let none = named(Some("web")).unwrap_err();
        assert!(
            none.is_usage() && none.to_string().contains("no container `web`; it has shop, proxy"),
            "{none}"
        );
        let mut meant = pod(&two);
        meant.metadata.annotations = Some([(DEFAULT_CONTAINER.to_owned(), "shop".to_owned())].into());
        assert_eq!(Inside::of(&meant, None).unwrap().unwrap().container, "shop");
        let mut pending = pod(&two);
        pending.status.as_mut().unwrap().phase = Some("Pending".into());
        assert_eq!(Inside::of(&pending, None), Ok(None), "it does not run");
    }

    /// Anything else sees less, or is not admitted.
    #[test]
    fn whoever_looks_is_the_user_of_the_server_and_may_do_the_same() {
        let plain = inside(&json!({"containers": [{"name": "shop"}]})).security;
        assert!(plain["runAsUser"].is_null() && plain["capabilities"].is_null(), "{plain}");
        let dropped = json!({"capabilities": {"drop": ["ALL"]}, "runAsUser": 1000});
        let containers = json!([{"name": "shop", "securityContext": dropped}]);
        let of_pod = json!({"runAsUser": 7, "runAsGroup": 70, "runAsNonRoot": true});
        let both = inside(&json!({"containers": containers, "securityContext": of_pod})).security;
        assert_eq!((&both["runAsUser"], &both["runAsGroup"]), (&json!(1000), &json!(70)));
        assert_eq!(both["capabilities"], json!({"drop": ["ALL"]}));
        assert_eq!(both["runAsNonRoot"], true);
        let nobody = json!({"containers": [{"name": "shop"}], "securityContext": {"runAsNonRoot": true}});
        assert_eq!(inside(&nobody).security["runAsUser"], USER);
        assert_eq!(both["allowPrivilegeEscalation"], false);
    }

    #[test]
    fn it_looks_at_the_processes_of_the_server_s_container() {
        let patch = inside(&json!({"containers": [{"name": "shop"}]})).patch(
            "proofload-watch-k3x9",
            "proofload:1",
            8080,
        );
        let container = &patch["spec"]["ephemeralContainers"][0];
        assert_eq!(container["targetContainerName"], "shop");
        let args = [
            "agent",
            "--watch",
            "proofload-watch-k3x9",
            "--listen",
            "127.0.0.1:7781",
            "--server-port",
            "8080",
        ];
        assert_eq!(container["args"], json!(args));
    }

    /// A figure of one container beside the limit of two would look as if there was room.
    #[test]
    fn the_limit_is_that_of_what_is_looked_at() {
        let limited = |name: &str, cpu: &str| json!({"name": name, "resources": {"limits": {"cpu": cpu}}});
        let mut spec = json!({"containers": [limited("shop", "1500m"), limited("proxy", "0.5")]});
        let limit = |spec: &Value| Inside::of(&pod(spec), Some("shop")).unwrap().unwrap().cpu_limit_cores;
        assert_eq!(limit(&spec), Some(1.5));
        spec["shareProcessNamespace"] = json!(true);
        assert_eq!(limit(&spec), Some(2.0), "all of its containers are looked at");
        let of_pod = json!({"containers": [{"name": "shop"}], "resources": {"limits": {"cpu": "4"}}});
        assert_eq!(limit(&of_pod), Some(4.0));
        spec["hostPID"] = json!(true);
        let error = Inside::of(&pod(&spec), Some("shop")).unwrap_err();
        assert!(error.to_string().contains("(hostPID)"), "{error}");
    }

    #[test]
    fn a_container_runs_or_waits_or_never_will() {
        let at = |state: Value| {
            let statuses = json!([{
                "name": "w", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": state,
            }]);
            let mut pod = pod(&json!({"containers": [{"name": "shop"}]}));
            let status = pod.status.as_mut().unwrap();
            status.ephemeral_container_statuses = serde_json::from_value(statuses).unwrap();
            stage(&pod, "w")
        };
        assert_eq!(stage(&pod(&json!({"containers": []})), "w"), Stage::Waits);
        assert_eq!(at(json!({"waiting": {"reason": "PodInitializing"}})), Stage::Waits);
        assert_eq!(at(json!({"running": {}})), Stage::Runs);
        let Stage::Fails(why) = at(json!({"waiting": {"reason": "ErrImageNeverPull", "message": "none"}}))
        else {
            panic!("it will never run")
        };
        assert!(why.contains("ErrImageNeverPull: none"), "{why}");
        let Stage::Fails(why) = at(json!({"terminated": {"exitCode": 2, "reason": "Error"}})) else {
            panic!("it has ended")
        };
        assert!(why.contains("exit code 2"), "{why}");
    }
}
