//! Two versions of a project's services, side by side: each has an id of its own, and is a stack like any other.

use std::collections::BTreeSet;

use crate::stack::{StackManifest, Variant};

/// One of two versions that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// What the other one is held against.
    Before,
    /// What is asked about.
    After,
}

impl Version {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::Before, Self::After];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }

    /// The id of this version of the service `id`: of `cart`, `cart-before`; of its variant `cart@big`, `cart-before@big`.
    pub fn id_of(self, id: &str) -> String {
        match id.split_once('@') {
            Some((service, variant)) => format!("{service}-{}@{variant}", self.name()),
            None => format!("{id}-{}", self.name()),
        }
    }

    /// `services`, as the revision called `revision` has them, under the ids of this version. What stands behind one of them
    /// and is one of them is of this version, too.
    pub fn of_services(self, services: Vec<StackManifest>, revision: &str) -> Vec<StackManifest> {
        let ids: BTreeSet<String> = services.iter().map(|it| it.id.clone()).collect();
        let upstream = |id: String| if ids.contains(&id) { self.id_of(&id) } else { id };
        let renamed = services.into_iter().map(|service| StackManifest {
            id: self.id_of(&service.id),
            title: format!("{}, {revision}", service.title),
            upstreams: service.upstreams.into_iter().map(upstream).collect(),
            variant: service.variant.map(|it| Variant { of: self.id_of(&it.of), ..it }),
            ..service
        });
        renamed.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn versions_have_ids_of_their_own_down_to_what_stands_behind_them() {
        let service = |name: &str, more: &str| {
            format!(
                "[service.{name}]\n{more}\n[service.{name}.run]\ncommand = [\"x\", \"{{port}}\", \"{{upstream}}\"]\n\
                 [service.{name}.ready]\n[[service.{name}.endpoint]]\nname = \"main\"\npath = \"/\"\n"
            )
        };
        let text = service("shop", "upstream = \"db\"")
            + &service("edge", "upstream = \"nginx\"")
            + &service("db", "").replace(", \"{upstream}\"", "");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let services = StackManifest::services(Path::new("x.toml"), &text, here).expect("they are valid");
        let told: Vec<(String, Option<String>, String)> = Version::After
            .of_services(services, "main")
            .into_iter()
            .map(|it| (it.id, it.upstreams.into_iter().next(), it.title))
            .collect();
        let own = |id: &str, upstream: Option<&str>, title: &str| {
            (id.to_owned(), upstream.map(str::to_owned), title.to_owned())
        };
        assert_eq!(
            told,
            [
                own("db-after", None, "db, main"),
                own("edge-after", Some("nginx"), "edge, main"),
                own("shop-after", Some("db-after"), "shop, main"),
            ]
        );
        assert_eq!(Version::Before.id_of("cart@big"), "cart-before@big");
    }
}
