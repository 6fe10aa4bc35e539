//! The stacks of this repository, for real: one of every family and generation builds, boots, answers as its manifest
//! says, and goes (`make test-slow`). What cannot be tried here for want of a tool is named. `make test-all` tries them all,
//! with their variants (`proofload check --all --variants`).

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;

use plan::stack::{Catalogue, Speaks, StackManifest};
use stack::{BuildOptions, ChainOptions, Interrupt, StackReport, build, check, missing};

use crate::common::standin;

fn catalogue() -> Catalogue {
    Catalogue::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stacks")).unwrap()
}

/// A test for each stack, which downloads and builds what it needs.
macro_rules! stacks {
    ($($test:ident: $id:literal,)*) => {
        /// One of every family and generation: the first by name.
        const TRIED: &[&str] = &[$($id,)*];

        mod kept {
            $(
                #[test]
                #[ignore = "slow: builds and boots a stack"]
                fn $test() {
                    super::keeps_its_manifest($id);
                }
            )*
        }
    };
}

stacks! {
    gateway_mvc_today: "gateway-mvc-today",
    gin: "gin",
    go_static: "go-static",
    haproxy: "haproxy",
    java_http_fixed_pool: "java-http-fixed-pool",
    java_http_virtual_threads: "java-http-virtual-threads",
    java_socket_fixed_pool: "java-socket-fixed-pool",
    jetty: "jetty",
    jetty_boot3: "jetty-boot3",
    nginx: "nginx",
    nginx_proxy: "nginx-proxy",
    planted_gc: "planted-gc",
    planted_pinned: "planted-pinned",
    spring_cloud_gateway: "spring-cloud-gateway",
    springmvc_boot30: "springmvc-boot30",
    target_event_loop: "target-event-loop",
    webflux_netty: "webflux-netty",
    webflux_netty_today: "webflux-netty-today",
}

#[test]
fn a_stack_of_every_family_is_tried() {
    let catalogue = catalogue();
    let mut families = BTreeSet::new();
    // What speaks something else is beside one that speaks plain HTTP/1.1, and tried with `check --all`.
    let plain = catalogue.iter().filter(|stack| stack.spoken.first() == Speaks::default());
    let first = plain.filter(|stack| families.insert((&stack.family, stack.generation)));
    let first: BTreeSet<&str> = first.map(|stack| stack.id.as_str()).collect();
    assert_eq!(first, TRIED.iter().copied().collect(), "name the first stack of each family in `stacks!`");
}

fn keeps_its_manifest(id: &str) {
    let catalogue = catalogue();
    let chain = catalogue.chain(id).unwrap();
    let lacking: Vec<_> = chain.iter().flat_map(|stack| missing(stack)).collect();
    if lacking.is_empty() {
        try_stack(&chain).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    for it in lacking {
        println!("NOT TRIED {id}: {} is missing; {}", it.name, it.install);
    }
}

fn try_stack(chain: &[&StackManifest]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let (proofload_exe, log, interrupt) = (standin(), &folder.path().join("build.log"), Interrupt::NEVER);
    for stack in chain {
        let options = BuildOptions { proofload_exe, log, interrupt };
        build(stack, &options, &mut |_| {}).map_err(|error| error.to_string())?;
    }
    let options = ChainOptions {
        proofload_exe,
        dir: folder.path(),
        address: Ipv4Addr::LOCALHOST,
        cpus: None,
        interrupt,
    };
    let report = check(chain, &options).map_err(|error| error.to_string())?;
    let StackReport { id, boot_took, usage, endpoints, requests_per_connection, stopped, .. } = &report;
    let (usage, stopped) = (usage.as_ref().expect("it was started"), stopped.expect("and ended"));
    let boot_took = boot_took.expect("it was started");
    println!(
        "{id}: up after {boot_took}, {} in {} threads, {} endpoints, {requests_per_connection:?} requests a \
        connection, gone after {}",
        usage.rss,
        usage.threads,
        endpoints.len(),
        stopped.took
    );
    let wrong = report.all_mismatches();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{id}: {}", wrong.join("; "))) }
}

/// Published figures are of these; a stack that goes takes its claims with it.
#[test]
fn the_write_ups_stacks_are_all_there() {
    let catalogue = catalogue();
    let ids: BTreeSet<&str> = catalogue.iter().map(|stack| stack.id.as_str()).collect();
    let published = [
        "tomcat-nio",
        "tomcat-apr",
        "jetty",
        "undertow",
        "springmvc-tomcat",
        "webflux-tomcat",
        "webflux-netty",
        "spring-cloud-gateway",
        "zuul",
        "nginx-proxy",
        "go-static",
        "gin",
        "java-socket-single-thread",
        "java-socket-thread-per-request",
        "java-socket-fixed-pool",
    ];
    let lost: Vec<_> = published.iter().filter(|id| !ids.contains(*id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// Those over TLS have certificates for this machine, and the planted ones are for no comparison.
#[test]
fn stacks_can_be_loaded_from_other_machines() {
    let catalogue = catalogue();
    let is_for_here = |stack: &StackManifest| {
        let text = std::fs::read_to_string(stack.dir.join("stack.toml")).unwrap();
        stack.id.starts_with("planted-") || text.contains("scheme = \"https\"")
    };
    let deaf = catalogue.iter().filter(|stack| !stack.is_told_its_address() && !is_for_here(stack));
    let deaf: Vec<&str> = deaf.map(|stack| stack.id.as_str()).collect();
    assert_eq!(deaf, [] as [&str; 0], "they are not told {{address}}");
}
