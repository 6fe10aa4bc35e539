//! By which way the connections of a load go: to the URL's host, to another place, to a socket, or through a proxy.

use std::net::SocketAddr;

use driver::UnixSocket;
use lab::LabError;
use lab::load::{greet, look_up, reach, resolve};
use lab::secured::{secure, secure_behind, secure_through, tunnel_behind};
use plan::{HttpTarget, HttpVersion, LoadPlan, PlanError};
use sources::{Proxy, Speaks};
use tls::{Peers, Settings, Tunnel};

use super::request;
use crate::arguments::Hit;
use crate::environment;
use crate::exit::Failure;

/// A way that is open.
pub struct Way {
    /// What is sent, as it is to be said on this way.
    pub target: HttpTarget,
    /// Where connections go, unless to a socket.
    pub targets: Vec<SocketAddr>,
    /// The socket that they go to.
    pub socket: Option<UnixSocket>,
    /// How they are secured, or lead through a tunnel.
    pub peers: Option<Peers>,
    /// What the result says of it, where it is not to an address of the URL's host.
    pub words: Option<String>,
}

impl Way {
    /// Tries the way that `arguments` name, and says in words why there is none.
    pub fn open(
        arguments: &Hit,
        target: HttpTarget,
        plan: &LoadPlan,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let options = &arguments.request;
        if let Some(socket) = request::socket(options)? {
            reach(&socket)?;
            let peers = secure_through(&target, plan.http, &socket, settings)?;
            let words = Some(format!("the socket {}", socket.path().display()));
            return Ok(Self { target, targets: Vec::new(), socket: Some(socket), peers, words });
        }
        if let Some(proxy) = &options.proxy {
            let proxy = Proxy::new(proxy, options.proxy_user.as_deref())?;
            return Self::behind(&proxy, target, plan, settings);
        }
        environment::note_proxy(arguments.quiet, [(target.is_secured, target.host.as_str(), target.port)]);
        let (host, port) = request::where_to(options, &target.host, target.port)?;
        let targets = resolve(&host, port)?;
        let peers = secure(&target, plan.http, &targets, settings)?;
        if peers.is_none() {
            targets.iter().try_for_each(|address| greet(*address, plan.http))?;
        }
        Ok(Self { target, targets, socket: None, peers, words: None })
    }

    fn behind(
        proxy: &Proxy,
        target: HttpTarget,
        plan: &LoadPlan,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        if proxy.speaks == Speaks::Http && !target.is_secured && plan.http != HttpVersion::Http1 {
            let help = "leave --http2-prior-knowledge out, or load an https URL, to which there is a tunnel";
            return Err(PlanError::new("a proxy is asked for plain http in HTTP/1.1", help).into());
        }
        let targets = resolve(&proxy.host, proxy.port).map_err(no_proxy)?;
        let address = *targets.first().expect("what resolves has an address");
        let tunnel = tunnel(proxy, &target)?;
        let shown = format!("by {proxy}");
        let words = Some(format!("the proxy {proxy}, whose times are part of these figures"));
        let way = |target, peers| Self { target, targets, socket: None, peers, words };
        if target.is_secured {
            let peers = secure_behind(&target, plan.http, (address, &shown), tunnel, settings)?;
            return Ok(way(target, peers));
        }
        if proxy.speaks == Speaks::Http {
            return Ok(way(target.in_absolute_form(), None));
        }
        let peers = tunnel_behind(&target.host, (address, &shown), tunnel)?;
        Ok(way(target, Some(peers)))
    }
}

/// It is not the server that is to be started, nor its address that is wrong.
fn no_proxy(error: LabError) -> Failure {
    match error {
        LabError::Unreachable { address, why } => {
            let help = "start it, or check --proxy";
            Failure::unreachable(format!("cannot connect to {address}, the proxy ({why}); {help}"))
        }
        LabError::NoAddress { host, why } => {
            Failure::unreachable(format!("`{host}`, the proxy, does not resolve ({why}); check --proxy"))
        }
        error => error.into(),
    }
}

/// What is said to the proxy for a tunnel to the server.
fn tunnel(proxy: &Proxy, target: &HttpTarget) -> Result<Tunnel, Failure> {
    let host = match proxy.speaks {
        Speaks::Http => return Ok(Tunnel::http(&proxy.connect_request(&target.host, target.port))),
        Speaks::SocksByName => target.host.clone(),
        Speaks::Socks => {
            let all = look_up(&target.host, target.port)?;
            // Not every proxy has a way to others.
            let fourth = all.iter().find(|address| address.is_ipv4()).or(all.first());
            fourth.expect("what is found has an address").ip().to_string()
        }
    };
    Tunnel::socks(&host, target.port, proxy.user()).ok_or_else(|| {
        let what = "SOCKS has no room for more than 255 bytes of a name, a user or a password";
        PlanError::new(what, "shorten the URL's host or --proxy-user").into()
    })
}
