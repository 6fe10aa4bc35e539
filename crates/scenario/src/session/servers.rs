//! Which servers a scenario's users go to, as far as that is known before they begin.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::walk::State;
use crate::model::{Children, Step};
use url::Url;

use crate::prepared::{Prepared, http_url};
use crate::world::{World, WorldSetup};

impl Prepared {
    /// The servers, as `host:port` or `https://host:port`, that requests go to with the variables and the row of data that
    /// the first user of each group begins with. Those that follow from an answer or from another row are not among them.
    pub fn servers(self: &Arc<Self>, setup: &WorldSetup) -> BTreeSet<String> {
        let mut servers = BTreeSet::new();
        for (group, it) in self.scenario().groups.iter().enumerate() {
            let mut world = World::new(setup.clone());
            let mut state = State::new(group, 0);
            state.begin_for_servers(self, &mut world);
            collect(Children::Steps(&it.steps), self, &mut state, &mut world, &mut servers);
        }
        servers
    }
}

/// The server that a URL names, as a load knows it: `host:port`, or `https://host:port` where it is secured.
pub fn server_of(url: &Url) -> Option<String> {
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let scheme = if url.scheme() == "https" { "https://" } else { "" };
    Some(format!("{scheme}{host}:{port}"))
}

fn collect(
    steps: Children<'_>,
    prepared: &Prepared,
    state: &mut State,
    world: &mut World,
    servers: &mut BTreeSet<String>,
) {
    for step in steps.iter() {
        match step {
            Step::Request(request) => {
                let mut scope = state.scope(prepared, world);
                request.sets.iter().for_each(|values| scope.set_values(values));
                let url = scope.text(&request.url).into_owned();
                if let Ok(url) = http_url(&url) {
                    servers.extend(server_of(&url));
                }
            }
            Step::Set { name, value } => {
                let value = state.scope(prepared, world).text(value).into_owned();
                state.user.variables.set(name, value.as_str());
            }
            Step::SetByUser(values) => state.scope(prepared, world).set_values(values),
            Step::Count(counter) => {
                let number = counter.format.written(counter.number(0));
                state.user.variables.set(&counter.name, number.as_str());
            }
            Step::Row(set) => {
                state.take_row(*set, prepared, world);
            }
            _ => {}
        }
        collect(step.children(), prepared, state, world, servers);
    }
}
