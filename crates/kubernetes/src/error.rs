//! What keeps a cluster from carrying a load, and what to do about it.

use std::error::Error as StdError;
use std::time::Duration;

use kube::config::KubeconfigError;

/// Why there are no agents in pods. Before any of these nothing was sent to the server that was to be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nobody says which cluster.
    #[error(
        "there is no kubeconfig ({0}), and this is no pod of a cluster; set KUBECONFIG, or log in to your cluster \
         with its tool"
    )]
    NoKubeconfig(String),
    /// It can't be used.
    #[error("the kubeconfig cannot be used ({0}); `kubectl config view` shows it")]
    BadKubeconfig(String),
    /// It has no such context.
    #[error("the kubeconfig has no context `{context}`; {}", known_contexts(.known))]
    NoContext {
        /// The one that was asked for.
        context: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The API server does not answer.
    #[error("the cluster at {server} cannot be reached: {why}; is it the right --context?")]
    Unreachable {
        /// Its address.
        server: String,
        /// What was seen.
        why: String,
    },
    /// It does not know who we are.
    #[error("the cluster does not know you ({0}); log in to it again, or give another --context")]
    Unknown(String),
    /// Rights are missing.
    #[error(
        "you may not {} in the namespace {namespace}; who administers it allows it by `proofload hit --on kubernetes \
         --rbac{} | kubectl apply -n {namespace} -f -`, and binds the role `{}` to you (docs/cluster.md)",
        listed(.rights), .role.option(), .role.name()
    )]
    Rights {
        /// Each a verb and a resource: `create jobs.batch`.
        rights: Vec<String>,
        /// The namespace in which they are missing.
        namespace: String,
        /// The role that has them.
        role: Role,
    },
    /// There is no such namespace.
    #[error(
        "there is no namespace `{0}`; give another --namespace, or create it: kubectl create namespace {0}"
    )]
    NoNamespace(String),
    /// The API server refuses the Job.
    #[error("the cluster refuses the Job ({0}); check --image, --cpu and --memory")]
    Refused(String),
    /// There is no room for all pods in the namespace.
    #[error(
        "the quota of the namespace does not let all pods be ({0}); take fewer --pods, or less --cpu or --memory"
    )]
    Quota(String),
    /// Pods like ours are forbidden.
    #[error("the namespace does not admit the pods ({0}); `--manifest` shows them")]
    NotAdmitted(String),
    /// The image can't be had.
    #[error("the image {image} cannot be had: {why}; check --image, and that the nodes may pull it")]
    Image {
        /// Its name.
        image: String,
        /// What the kubelet says.
        why: String,
    },
    /// A pod ended, or can't begin.
    #[error("{pod} {why}; is its image one of proofload, and of this version? Nothing was sent")]
    Ended {
        /// Its name and node.
        pod: String,
        /// What is known.
        why: String,
    },
    /// Not all pods run in time.
    #[error("{state} after {} s; nothing was sent. Take fewer --pods, or give them more time with --ready-timeout", .within.as_secs_f64())]
    NotReady {
        /// How many do, and why others do not.
        state: String,
        /// The bound.
        within: Duration,
    },
    /// Nobody tells what pods use.
    #[error("the cluster has no metrics API ({0}); install metrics-server, or leave --watch out")]
    NoMetrics(String),
    /// The server has no pods.
    #[error(
        "no pod in the namespace {namespace} has the labels {labels}; check --watch-pods and --watch-namespace"
    )]
    NoServerPods {
        /// By which they were to be chosen.
        labels: String,
        /// Where they were looked for.
        namespace: String,
    },
    /// It has some, and none runs.
    #[error(
        "none of the {count} pods in the namespace {namespace} with the labels {labels} runs; wait until one does"
    )]
    NoServerPodRuns {
        /// How many there are.
        count: usize,
        /// By which they were chosen.
        labels: String,
        /// Where they are.
        namespace: String,
    },
    /// It has too many.
    #[error(
        "more than {most} pods in the namespace {namespace} have the labels {labels}; choose fewer with --watch-pods"
    )]
    ManyServerPods {
        /// By which they were chosen.
        labels: String,
        /// Where they are.
        namespace: String,
        /// The bound.
        most: usize,
    },
    /// It is not said which container of a pod is the server's.
    #[error("the pod {pod} has several containers ({}); name the server's with --watch-container", .containers.join(", "))]
    ManyContainers {
        /// Its name.
        pod: String,
        /// What they are called.
        containers: Vec<String>,
    },
    /// It has no such container.
    #[error("the pod {pod} has no container `{container}`; it has {}", .containers.join(", "))]
    NoContainer {
        /// Its name.
        pod: String,
        /// The one that was asked for.
        container: String,
        /// Those that there are.
        containers: Vec<String>,
    },
    /// Nobody looks from within a pod.
    #[error(
        "the pod {pod} of the server can't be looked at from within: {why}. Nothing was sent; leave --watch out, or see docs/cluster.md"
    )]
    NotWatched {
        /// Its name.
        pod: String,
        /// What is known.
        why: String,
    },
    /// Something else that the API says.
    #[error("the cluster says: {0}")]
    Api(String),
    /// The user interrupted.
    #[error("interrupted before the load began: nothing was sent")]
    Interrupted,
}

/// What somebody may do who was given it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Carry loads, and watch by metrics-server.
    Load,
    /// Look at a server from within its pods.
    WatchPods,
}

impl Role {
    /// What prints it, behind `--rbac`.
    const fn option(self) -> &'static str {
        match self {
            Self::Load => "",
            Self::WatchPods => " --watch pods --watch-pods LABEL=VALUE",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Load => "proofload",
            Self::WatchPods => "proofload-watch-pods",
        }
    }
}

impl Error {
    /// Whether the arguments are to blame, and not the cluster.
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoKubeconfig(_)
                | Self::BadKubeconfig(_)
                | Self::NoContext { .. }
                | Self::Refused(_)
                | Self::NoServerPods { .. }
                | Self::ManyServerPods { .. }
                | Self::ManyContainers { .. }
                | Self::NoContainer { .. }
        )
    }

    /// What it means that something was asked for in `namespace` of the cluster at `server`, and this came of it.
    pub(crate) fn of_answer(error: &kube::Error, namespace: &str, server: &str) -> Self {
        let kube::Error::Api(status) = error else {
            return Self::Unreachable { server: server.to_owned(), why: causes(error) };
        };
        let said = status.message.clone();
        match status.code {
            401 => Self::Unknown(if said.is_empty() { "Unauthorized".into() } else { said }),
            403 if said.contains("exceeded quota") => Self::Quota(said),
            403 => match forbidden(&said) {
                Some(right) => {
                    Self::Rights { rights: vec![right], namespace: namespace.to_owned(), role: Role::Load }
                }
                None => Self::NotAdmitted(said),
            },
            404 if said.starts_with("namespaces ") => Self::NoNamespace(namespace.to_owned()),
            400 | 422 => Self::Refused(said),
            _ if said.is_empty() => Self::Api(format!("{} {}", status.code, status.reason)),
            _ => Self::Api(said),
        }
    }

    /// What it means that a kubeconfig can't be used, which has these contexts.
    pub(crate) fn of_kubeconfig(error: &KubeconfigError, known: Vec<String>) -> Self {
        match error {
            KubeconfigError::LoadContext(context) => Self::NoContext { context: context.clone(), known },
            KubeconfigError::CurrentContextNotSet => {
                Self::BadKubeconfig(format!("it names no current context; {}", known_contexts(&known)))
            }
            KubeconfigError::FindPath => Self::NoKubeconfig("there is no home folder".into()),
            KubeconfigError::ReadConfig(why, path) => {
                Self::NoKubeconfig(format!("{}: {why}", path.display()))
            }
            other => Self::BadKubeconfig(causes(other)),
        }
    }
}

/// The verb and the resource that somebody may not: the API server tells it as `… cannot VERB resource "RESOURCE" in API
/// group "GROUP" …`.
fn forbidden(said: &str) -> Option<String> {
    let (verb, rest) = said.split_once(" cannot ")?.1.split_once(" resource \"")?;
    let (resource, rest) = rest.split_once('"')?;
    let group = rest.strip_prefix(" in API group \"").and_then(|it| it.split_once('"')).map_or("", |it| it.0);
    Some(right(verb, resource, group))
}

/// A right as it is told: `create jobs.batch`.
pub(crate) fn right(verb: &str, resource: &str, group: &str) -> String {
    if group.is_empty() { format!("{verb} {resource}") } else { format!("{verb} {resource}.{group}") }
}

/// An error with what caused it, each said once.
pub(crate) fn causes(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

fn known_contexts(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) }
}

fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn told(code: u16, message: &str) -> Error {
        let status = Status::failure(message, "").with_code(code);
        Error::of_answer(&kube::Error::Api(status.boxed()), "shop", "https://api:6443")
    }

    #[test]
    fn a_missing_right_is_named_with_its_verb_and_resource() {
        let error = told(
            403,
            "jobs.batch is forbidden: User \"ann\" cannot create resource \"jobs\" in API group \"batch\" in the \
             namespace \"shop\"",
        );
        let text = error.to_string();
        assert!(text.starts_with("you may not create jobs.batch in the namespace shop; "), "{text}");
        assert!(text.contains("--rbac | kubectl apply -n shop -f -"), "{text}");
        let error = told(
            403,
            "pods \"p-0\" is forbidden: User \"ann\" cannot get resource \"pods/portforward\" in API group \"\" in \
             the namespace \"shop\"",
        );
        assert!(error.to_string().contains("may not get pods/portforward in"), "{error}");
        let rights = ["create jobs.batch", "get pods", "list events"].map(str::to_owned).to_vec();
        let text = Error::Rights { rights, namespace: "shop".into(), role: Role::WatchPods }.to_string();
        assert!(text.contains("create jobs.batch, get pods and list events"), "{text}");
        assert!(text.contains("--rbac --watch pods ") && text.contains("`proofload-watch-pods`"), "{text}");
    }

    #[test]
    fn what_the_api_server_says_is_told_by_what_to_do() {
        let quota =
            "jobs.batch \"p\" is forbidden: exceeded quota: few, requested: count/jobs.batch=1, used: 1";
        assert!(matches!(told(403, quota), Error::Quota(_)));
        assert!(matches!(told(403, "admission webhook \"x\" denied the request"), Error::NotAdmitted(_)));
        assert!(matches!(told(401, "Unauthorized"), Error::Unknown(_)));
        assert_eq!(told(404, "namespaces \"shop\" not found"), Error::NoNamespace("shop".into()));
        assert!(told(422, "Job.batch \"p\" is invalid: …").is_usage());
        assert_eq!(told(500, ""), Error::Api("500 ".into()));
        assert_eq!(told(503, "etcd is slow"), Error::Api("etcd is slow".into()));
    }

    #[test]
    fn a_context_that_is_not_there_is_told_with_those_that_are() {
        let known = vec!["blue".to_owned(), "green".to_owned()];
        let error = Error::of_kubeconfig(&KubeconfigError::LoadContext("red".into()), known.clone());
        assert_eq!(error.to_string(), "the kubeconfig has no context `red`; it has blue, green");
        assert!(error.is_usage());
        let error = Error::of_kubeconfig(&KubeconfigError::CurrentContextNotSet, known);
        assert!(error.to_string().contains("no current context; it has blue"), "{error}");
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error =
            Error::of_kubeconfig(&KubeconfigError::ReadConfig(missing, "/nowhere".into()), Vec::new());
        assert!(error.to_string().starts_with("there is no kubeconfig (/nowhere: "), "{error}");
    }
}
