//! The Job: its manifest.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, EnvVar, EnvVarSource, ObjectFieldSelector, PodSecurityContext, PodSpec,
    PodTemplateSpec, ResourceRequirements, SeccompProfile, SecurityContext, Sysctl, Toleration,
    TopologySpreadConstraint,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

/// Where an agent listens, on the loopback of its pod.
pub const AGENT_PORT: u16 = 7780;
/// The label of all that belongs to one run.
pub(crate) const RUN_LABEL: &str = "proofload.dev/run";
/// Where the Job's controller says which share a pod has.
pub(crate) const INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";
/// Nobody in particular: whom images without users run as.
const USER: i64 = 65532;
/// A node that is gone is noticed by its silent stream; its pods need not be waited for.
const NODE_GONE_SECONDS: i64 = 2;
/// An agent has nothing to put in order when it is ended.
const GRACE_SECONDS: i64 = 1;
/// How long the Job stays after it has ended, where nobody deleted it.
const KEPT_SECONDS: i32 = 60;
/// What a Job without an end of its own may take.
const UNBOUNDED: Duration = Duration::from_secs(24 * 3600);
/// What agents may take beyond the load: to tell the rest, and to be fetched.
const LINGER: Duration = Duration::from_secs(60);

/// What is to run in the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Tells this run from others: a part of names.
    pub run: String,
    /// How many.
    pub pods: u32,
    /// The image whose entry point is `proofload`.
    pub image: String,
    /// CPU of each, as Kubernetes writes it: `2`, `500m`.
    pub cpu: String,
    /// Memory of each: `512Mi`.
    pub memory: String,
    /// How long it may take until all pods run.
    pub ready_within: Duration,
    /// How long all that they are for takes at most; `None` where nobody knows.
    pub load: Option<Duration>,
    /// Whether they carry one load after the other.
    pub again: bool,
}

impl Wanted {
    /// A run that no other is called like.
    pub fn random_run() -> String {
        // Without vowels no words come about, and without 0 and 1 no letters are taken for them.
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut rest = plan::random::number();
        let letters = (0..6).map(|_| {
            let letter = LETTERS[(rest % LETTERS.len() as u64) as usize];
            rest /= LETTERS.len() as u64;
            char::from(letter)
        });
        letters.collect()
    }

    /// The Job's name.
    pub fn name(&self) -> String {
        job_name(&self.run)
    }

    /// The Job as YAML.
    pub fn manifest(&self, namespace: Option<&str>) -> String {
        let mut job = self.job();
        job.metadata.namespace = namespace.map(str::to_owned);
        serde_saphyr::to_string(&job).unwrap_or_default()
    }

    /// The Job.
    pub(crate) fn job(&self) -> Job {
        let pods = i32::try_from(self.pods).unwrap_or(i32::MAX);
        Job {
            metadata: ObjectMeta {
                name: Some(self.name()),
                labels: Some(self.labels()),
                ..ObjectMeta::default()
            },
            spec: Some(JobSpec {
                completion_mode: Some("Indexed".into()),
                completions: Some(pods),
                parallelism: Some(pods),
                // A share that has begun is never begun again: who comes late would be another load.
                backoff_limit_per_index: Some(0),
                max_failed_indexes: Some(pods),
                pod_replacement_policy: Some("Failed".into()),
                active_deadline_seconds: i64::try_from(self.deadline().as_secs()).ok(),
                ttl_seconds_after_finished: Some(KEPT_SECONDS),
                template: self.template(),
                ..JobSpec::default()
            }),
            status: None,
        }
    }

    /// What ends it where nobody does.
    fn deadline(&self) -> Duration {
        self.ready_within
            .saturating_add(self.load.unwrap_or(UNBOUNDED))
            .saturating_add(LINGER)
            .min(UNBOUNDED * 30)
    }

    fn labels(&self) -> BTreeMap<String, String> {
        map([
            ("app.kubernetes.io/name", "proofload"),
            ("app.kubernetes.io/managed-by", "proofload"),
            (RUN_LABEL, self.run.as_str()),
        ])
    }

    fn template(&self) -> PodTemplateSpec {
        let mut labels = self.labels();
        // A sidecar would be measured as well.
        labels.insert("sidecar.istio.io/inject".into(), "false".into());
        let annotations = map([
            ("linkerd.io/inject", "disabled"),
            ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
            ("karpenter.sh/do-not-disrupt", "true"),
        ]);
        PodTemplateSpec {
            metadata: Some(ObjectMeta {
                labels: Some(labels),
                annotations: Some(annotations),
                ..ObjectMeta::default()
            }),
            spec: Some(PodSpec {
                restart_policy: Some("Never".into()),
                automount_service_account_token: Some(false),
                enable_service_links: Some(false),
                termination_grace_period_seconds: Some(GRACE_SECONDS),
                topology_spread_constraints: Some(vec![self.spread()]),
                tolerations: Some(vec![gone("unreachable"), gone("not-ready")]),
                security_context: Some(pod_security()),
                containers: vec![self.container()],
                ..PodSpec::default()
            }),
        }
    }

    /// Over as many nodes as there are, as far as they have room.
    fn spread(&self) -> TopologySpreadConstraint {
        TopologySpreadConstraint {
            max_skew: 1,
            topology_key: "kubernetes.io/hostname".into(),
            when_unsatisfiable: "ScheduleAnyway".into(),
            label_selector: Some(LabelSelector {
                match_labels: Some(map([(RUN_LABEL, self.run.as_str())])),
                ..LabelSelector::default()
            }),
            ..TopologySpreadConstraint::default()
        }
    }

    fn arguments(&self) -> Vec<String> {
        let listen = format!("127.0.0.1:{AGENT_PORT}");
        let one = ["agent", "--listen", &listen, "--node", "$(NODE_NAME)"].into_iter();
        one.chain(self.again.then_some("--again")).map(str::to_owned).collect()
    }

    fn container(&self) -> Container {
        let own = [("cpu", &self.cpu), ("memory", &self.memory)];
        let own: BTreeMap<String, Quantity> =
            own.into_iter().map(|(what, much)| (what.to_owned(), Quantity(much.clone()))).collect();
        let node =
            ObjectFieldSelector { field_path: "spec.nodeName".into(), ..ObjectFieldSelector::default() };
        Container {
            name: "agent".into(),
            image: Some(self.image.clone()),
            args: Some(self.arguments()),
            env: Some(vec![EnvVar {
                name: "NODE_NAME".into(),
                value: None,
                value_from: Some(EnvVarSource { field_ref: Some(node), ..EnvVarSource::default() }),
            }]),
            // What an agent said last is in its pod's status: nobody needs the right to read logs.
            termination_message_policy: Some("FallbackToLogsOnError".into()),
            security_context: Some(SecurityContext {
                allow_privilege_escalation: Some(false),
                read_only_root_filesystem: Some(true),
                capabilities: Some(Capabilities { add: None, drop: Some(vec!["ALL".into()]) }),
                ..SecurityContext::default()
            }),
            // Requests and limits alike: in whole cores the kubelet's static CPU manager gives it cores of its own.
            resources: Some(ResourceRequirements {
                claims: None,
                limits: Some(own.clone()),
                requests: Some(own),
            }),
            ..Container::default()
        }
    }
}

/// What the Job of a run is called.
pub(crate) fn job_name(run: &str) -> String {
    format!("proofload-{run}")
}

/// Passes the Pod Security Standard `restricted`.
fn pod_security() -> PodSecurityContext {
    PodSecurityContext {
        run_as_non_root: Some(true),
        run_as_user: Some(USER),
        run_as_group: Some(USER),
        seccomp_profile: Some(SeccompProfile { localhost_profile: None, type_: "RuntimeDefault".into() }),
        // One of the safe ones: a load opens more connections to one address than the default has ports for.
        sysctls: Some(vec![Sysctl {
            name: "net.ipv4.ip_local_port_range".into(),
            value: "1024 65535".into(),
        }]),
        ..PodSecurityContext::default()
    }
}

fn gone(how: &str) -> Toleration {
    Toleration {
        key: Some(format!("node.kubernetes.io/{how}")),
        operator: Some("Exists".into()),
        effect: Some("NoExecute".into()),
        toleration_seconds: Some(NODE_GONE_SECONDS),
        value: None,
    }
}

fn map<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn wanted() -> Wanted {
        Wanted {
            run: "k3x9".into(),
            pods: 8,
            image: "registry.example/proofload:1".into(),
            cpu: "2".into(),
            memory: "512Mi".into(),
            ready_within: Duration::from_secs(300),
            load: Some(Duration::from_secs(60)),
            again: false,
        }
    }

    #[test]
    fn an_agent_takes_another_load_where_there_are_several() {
        let arguments = |again: bool| {
            let job = serde_json::to_value(Wanted { again, ..wanted() }.job()).unwrap();
            job["spec"]["template"]["spec"]["containers"][0]["args"].clone()
        };
        let one = json!(["agent", "--listen", "127.0.0.1:7780", "--node", "$(NODE_NAME)"]);
        assert_eq!(arguments(false), one);
        assert_eq!(arguments(true).as_array().unwrap().last(), Some(&json!("--again")));
    }

    #[test]
    fn each_share_runs_once_and_the_job_ends_by_itself() {
        let job = serde_json::to_value(wanted().job()).unwrap();
        let spec = &job["spec"];
        assert_eq!(job["metadata"]["name"], "proofload-k3x9");
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&json!(8), &json!(8)));
        assert_eq!((&spec["completionMode"], &spec["backoffLimitPerIndex"]), (&json!("Indexed"), &json!(0)));
        assert_eq!(spec["activeDeadlineSeconds"], 300 + 60 + 60);
        assert_eq!(spec["ttlSecondsAfterFinished"], 60);
        assert_eq!(spec["template"]["spec"]["restartPolicy"], "Never");
        let unbounded = Wanted { load: None, ..wanted() }.job();
        assert_eq!(unbounded.spec.unwrap().active_deadline_seconds, Some(300 + 86400 + 60));
        let longest = Wanted { load: Some(Duration::MAX), ..wanted() }.job();
        assert!(longest.spec.unwrap().active_deadline_seconds.unwrap() < i64::from(i32::MAX));
    }

    /// What the Pod Security Standard `restricted` asks for.
    #[test]
    fn its_pods_are_restricted() {
        let job = serde_json::to_value(wanted().job()).unwrap();
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["containers"].as_array().unwrap().len(), 1);
        let own = &pod["containers"][0]["securityContext"];
        assert_eq!(own["allowPrivilegeEscalation"], false);
        assert_eq!(own["readOnlyRootFilesystem"], true);
        assert_eq!(own["capabilities"], json!({"drop": ["ALL"]}));
        for unrestricted in ["hostNetwork", "hostPID", "hostIPC", "volumes"] {
            assert!(pod[unrestricted].is_null(), "{unrestricted}");
        }
    }

    #[test]
    fn its_pods_are_spread_and_have_what_they_ask_for() {
        let job = serde_json::to_value(wanted().job()).unwrap();
        let pod = &job["spec"]["template"]["spec"];
        let spread = &pod["topologySpreadConstraints"][0];
        assert_eq!(spread["topologyKey"], "kubernetes.io/hostname");
        let labels = &job["spec"]["template"]["metadata"]["labels"];
        assert_eq!(spread["labelSelector"]["matchLabels"][RUN_LABEL], labels[RUN_LABEL]);
        let resources = &pod["containers"][0]["resources"];
        assert_eq!(resources["requests"], json!({"cpu": "2", "memory": "512Mi"}));
        assert_eq!(resources["requests"], resources["limits"], "Guaranteed");
    }

    /// Another reader of YAML must find the same: texts that look like numbers or truths stay texts.
    #[test]
    fn the_manifest_says_the_same() {
        let text = wanted().manifest(Some("load"));
        let read: Value = serde_saphyr::from_str(&text).unwrap();
        let mut expected = serde_json::to_value(wanted().job()).unwrap();
        expected["metadata"]["namespace"] = json!("load");
        assert_eq!(read, expected, "{text}");
        assert!(text.contains("kind: Job\n") && text.contains("apiVersion: batch/v1\n"), "{text}");
        assert!(!text.contains("inject: false"), "{text}");
        assert!(!wanted().manifest(None).contains("namespace:"));
    }

    #[test]
    fn runs_have_names_of_their_own() {
        let (one, other) = (Wanted::random_run(), Wanted::random_run());
        assert!(one != other && one.len() == 6, "{one} {other}");
    }
}
