//! What a run may do, asked before anything is done: an error that comes half-way helps nobody.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::api::PostParams;

use crate::cluster::Cluster;
use crate::error::{self, Error, Role};

/// Group, resource, subresource, verbs.
type Right = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// What a run needs. docs/kubernetes/rbac.yaml allows this and the other, and no more.
pub(crate) const TO_LOAD: [Right; 4] = [
    ("batch", "jobs", "", &["create", "delete"]),
    ("", "pods", "", &["get", "list", "delete"]),
    ("", "pods", "portforward", &["get", "create"]),
    ("", "events", "", &["list"]),
];
/// What it takes to watch the pods of a server, in their namespace.
pub(crate) const TO_WATCH: [Right; 2] =
    [("", "pods", "", &["list"]), ("metrics.k8s.io", "pods", "", &["list"])];
/// What it takes to look at them from within. Whoever may put a container into a pod may do what the pod may, so it is a role of
/// its own: docs/kubernetes/rbac-watch-pods.yaml.
pub(crate) const TO_WATCH_WITHIN: [Right; 3] = [
    ("", "pods", "", &["get", "list"]),
    ("", "pods", "ephemeralcontainers", &["patch"]),
    ("", "pods", "portforward", &["get", "create"]),
];

/// Asks for each of these rights, which a role has.
///
/// # Errors
/// If some are missing, with all that are. Where the question itself is refused, the answer is left to what comes.
pub(crate) fn check(cluster: &Cluster, needed: &[Right], role: Role) -> Result<(), Error> {
    let mut missing = Vec::new();
    for (group, resource, subresource, verbs) in needed.iter().copied() {
        for verb in verbs {
            let review = review(cluster.namespace(), group, resource, subresource, verb);
            let reviews = cluster.api_of_all::<SelfSubjectAccessReview>();
            let answer = cluster.ask_raw(reviews.create(&PostParams::default(), &review))?;
            match answer {
                Ok(review) if review.status.as_ref().is_some_and(|it| !it.allowed) => {
                    let resource = [resource, subresource].join("/");
                    missing.push(error::right(verb, resource.trim_end_matches('/'), group));
                }
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code != 401 => return Ok(()),
                Err(other) => return Err(cluster.meaning(&other)),
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::Rights { rights: missing, namespace: cluster.namespace().to_owned(), role })
}

fn review(
    namespace: &str,
    group: &str,
    resource: &str,
    subresource: &str,
    verb: &str,
) -> SelfSubjectAccessReview {
    let some = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
    SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                namespace: some(namespace),
                group: some(group),
                resource: some(resource),
                subresource: some(subresource),
                verb: some(verb),
                ..ResourceAttributes::default()
            }),
            non_resource_attributes: None,
        },
        ..SelfSubjectAccessReview::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Who applied what we hand out has what we ask for, and no more.
    #[test]
    fn the_roles_that_are_handed_out_allow_what_is_needed_and_nothing_else() {
        let to_load: Vec<&Right> = TO_LOAD.iter().chain(&TO_WATCH).collect();
        assert_eq!(allowed(crate::RBAC), told(&to_load));
        let within: Vec<&Right> = TO_WATCH_WITHIN.iter().collect();
        assert_eq!(allowed(crate::RBAC_WATCH_PODS), told(&within));
    }

    fn allowed(roles: &str) -> BTreeSet<String> {
        let documents: Vec<Value> = serde_saphyr::from_multiple(roles).unwrap();
        let role = documents.iter().find(|it| it["kind"] == "Role").unwrap();
        let texts = |rule: &Value, key: &str| -> Vec<String> {
            rule[key].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let mut allowed = BTreeSet::new();
        for rule in role["rules"].as_array().unwrap() {
            for (group, resource) in texts(rule, "apiGroups").into_iter().zip(texts(rule, "resources")) {
                for verb in texts(rule, "verbs") {
                    allowed.insert(error::right(&verb, &resource, &group));
                }
            }
        }
        allowed
    }

    fn told(rights: &[&Right]) -> BTreeSet<String> {
        let each = rights.iter().flat_map(|(group, resource, subresource, verbs)| {
            let resource = [*resource, *subresource].join("/");
            verbs.iter().map(move |verb| error::right(verb, resource.trim_end_matches('/'), group))
        });
        each.collect()
    }
}
