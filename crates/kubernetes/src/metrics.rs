//! Pods as metrics-server tells of them, and what they may use.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{Container, Pod, PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::Deserialize;

use crate::quantity::{quantity, span_s};

/// Bytes of the name of a pod: as many as Kubernetes allows.
pub(crate) const NAME_BYTES_MAX: usize = 253;
/// Containers of a pod.
const CONTAINERS_MAX: usize = 1000;
/// The longest window of an average, seconds.
const WINDOW_S_MAX: f64 = 3600.0;
/// What a pod may use of either and be believed.
const CORES_MAX: f64 = 65_536.0;
const MEMORY_BYTES_MAX: f64 = (1_u64 << 60) as f64;

/// What metrics-server tells of a pod.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PodMetrics {
    #[serde(default)]
    metadata: ObjectMeta,
    timestamp: Time,
    window: String,
    #[serde(default)]
    containers: Vec<ContainerMetrics>,
}

#[derive(Debug, Clone, Deserialize)]
struct ContainerMetrics {
    #[serde(default)]
    usage: BTreeMap<String, Quantity>,
}

impl kube::Resource for PodMetrics {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "PodMetrics".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "metrics.k8s.io".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1beta1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "pods".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// What a pod used on average over a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub(crate) pod: String,
    /// The end of the window, seconds since 1970. It is told in whole seconds, by the clock of the pod's node.
    pub(crate) end_s: f64,
    pub(crate) window_s: f64,
    pub(crate) cpu_cores: f64,
    pub(crate) memory_bytes: u64,
}

impl PodMetrics {
    /// What is told of all containers together; `None` where one of them is told of in no figures, since a part of a sum is none.
    pub(crate) fn reading(&self) -> Option<Reading> {
        let pod = self.metadata.name.clone().filter(|it| it.len() <= NAME_BYTES_MAX)?;
        let window_s = span_s(&self.window).filter(|it| *it > 0.0 && *it <= WINDOW_S_MAX)?;
        let all = Some(&self.containers).filter(|it| (1..=CONTAINERS_MAX).contains(&it.len()))?;
        let sum = |resource: &str| -> Option<f64> {
            all.iter().map(|it| quantity(&it.usage.get(resource)?.0)).sum()
        };
        let cpu_cores = sum("cpu").filter(|it| *it <= CORES_MAX)?;
        let memory_bytes = sum("memory").filter(|it| *it <= MEMORY_BYTES_MAX)?.round() as u64;
        let end_s = self.timestamp.0.as_millisecond() as f64 / 1e3;
        Some(Reading { pod, end_s, window_s, cpu_cores, memory_bytes })
    }
}

/// CPU that a pod may use, cores: the pod's own limit, or those of its containers together. `None` where one of these has none.
pub(crate) fn cpu_limit_cores(pod: &Pod) -> Option<f64> {
    let spec = pod.spec.as_ref()?;
    if let Some(whole) = cpu_limit(spec.resources.as_ref()) {
        return Some(whole);
    }
    // A sidecar is told of as other containers are; what else comes first is over when these run.
    let is_sidecar = |restarts: Option<&str>| restarts == Some("Always");
    let first = spec.init_containers.iter().flatten();
    let sidecars = first.filter(|it| is_sidecar(it.restart_policy.as_deref()));
    let all = spec.containers.iter().chain(sidecars);
    all.map(|it| cpu_limit(it.resources.as_ref())).sum()
}

/// The same of one of its containers: its own limit, or the pod's.
pub(crate) fn cpu_limit_of(spec: &PodSpec, container: &Container) -> Option<f64> {
    cpu_limit(container.resources.as_ref()).or_else(|| cpu_limit(spec.resources.as_ref()))
}

fn cpu_limit(of: Option<&ResourceRequirements>) -> Option<f64> {
    quantity(&of?.limits.as_ref()?.get("cpu")?.0).filter(|it| *it > 0.0 && *it <= CORES_MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn reading(window: &str, containers: &[Value]) -> Option<Reading> {
        let told = json!({
            "kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
            "metadata": {"name": "shop-a", "namespace": "shop", "labels": {"app": "shop"}},
            "timestamp": "2026-01-01T00:00:16Z", "window": window, "containers": containers,
        });
        serde_json::from_value::<PodMetrics>(told).unwrap().reading()
    }

    fn container(cpu: &str, memory: &str) -> Value {
        json!({"name": "c", "usage": {"cpu": cpu, "memory": memory}})
    }

    #[test]
    fn what_the_containers_of_a_pod_use_is_added_up() {
        let both = [container("250m", "1Mi"), container("123456789n", "12345Ki")];
        let told = reading("15.177s", &both).unwrap();
        assert_eq!((told.pod.as_str(), told.memory_bytes), ("shop-a", 13_689_856));
        assert!((told.cpu_cores - 0.373_456_789).abs() < 1e-12, "{told:?}");
        assert!((told.window_s - 15.177).abs() < 1e-12, "{told:?}");
        assert!((told.end_s - 1_767_225_616.0).abs() < 1e-6, "{told:?}");
        let plain = reading("1m0s", &[container("1", "433991680")]).unwrap();
        assert_eq!(plain.memory_bytes, 433_991_680);
    }

    #[test]
    fn a_sum_of_which_a_part_is_missing_is_none() {
        let good = container("1", "1Mi");
        assert!(reading("15s", std::slice::from_ref(&good)).is_some());
        for (window, containers) in [
            ("15s", vec![]),
            ("15s", vec![good.clone(), container("much", "1Mi")]),
            ("15s", vec![good.clone(), container("1", "-1Mi")]),
            ("15s", vec![good.clone(), json!({"name": "c"})]),
            ("15s", vec![good.clone(), json!({"name": "c", "usage": {"cpu": "1"}})]),
            ("15s", vec![container("1e9", "1Mi")]),
            ("15s", vec![container("1", "8Ei")]),
            ("0s", vec![good.clone()]),
            ("2h", vec![good.clone()]),
            ("soon", vec![good.clone()]),
        ] {
            assert_eq!(reading(window, &containers), None, "{window} {containers:?}");
        }
    }

    #[test]
    fn a_pod_has_a_limit_where_each_of_its_containers_has_one() {
        let limit = |spec: Value| cpu_limit_cores(&serde_json::from_value(json!({"spec": spec})).unwrap());
        let limited = |cpu: &str| json!({"name": "c", "resources": {"limits": {"cpu": cpu}}});
        let unlimited = json!({"name": "c", "resources": {"limits": {"memory": "1Gi"}}});
        assert_eq!(limit(json!({"containers": [limited("1500m"), limited("0.5")]})), Some(2.0));
        assert_eq!(limit(json!({"containers": [limited("2"), unlimited]})), None);
        assert_eq!(limit(json!({"containers": [limited("2"), limited("many")]})), None);
        assert_eq!(limit(json!({"containers": [{"name": "c"}]})), None);
        let sidecar = json!({"name": "s", "restartPolicy": "Always", "resources": {"limits": {"cpu": "1"}}});
        let first = json!([limited("7"), sidecar]);
        assert_eq!(limit(json!({"containers": [limited("2")], "initContainers": first})), Some(3.0));
        let of_pod = json!({"containers": [{"name": "c"}], "resources": {"limits": {"cpu": "4"}}});
        assert_eq!(limit(of_pod), Some(4.0));
    }
}
