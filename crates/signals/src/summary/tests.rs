use super::*;
use crate::open_files::OpenFiles;
use crate::sampler::Jvm;
use record::{Asked, HostReading, JvmReading};
use std::path::PathBuf;

fn at(secs: f64) -> Instant {
    Instant::from_nanos((secs * 1e9) as u64)
}

fn thread(id: i32, cpu_s: f64, switches: u64) -> ThreadReading {
    let cpu = Duration::from_secs_f64(cpu_s);
    ThreadReading { id, process: 1, runnable: false, cpu, waited: cpu / 2, switches }
}

/// A server that uses half a core, its two workers a quarter each, on a machine that is busy for 0.9 cores.
fn reading(secs: f64) -> Reading {
    let server = ProcessReading {
        cpu_user_s: 0.4 * secs,
        cpu_system_s: 0.1 * secs,
        rss_bytes: (1_000.0 * secs) as u64,
        anonymous_bytes: (secs >= 2.0).then_some((400.0 * secs) as u64),
        threads: 10 + 2 * secs as u32,
        accept_queue: Some(3),
        accept_queue_limit: Some(3),
        sockets: Some([("established".to_owned(), 10)].into()),
        unread: Some(if secs < 5.0 { 8 } else { 6 }),
        unacknowledged: Some(2),
        disk_read_bytes: Some((2_000.0 * secs) as u64),
        ..ProcessReading::default()
    };
    let workers = vec![thread(11, 0.25 * secs, (100.0 * secs) as u64), thread(12, 0.25 * secs, 0)];
    let generator = ProcessReading { cpu_user_s: 0.1 * secs, ..ProcessReading::default() };
    Reading {
        at: at(secs),
        host: HostReading {
            busy_s: 0.9 * secs,
            network: [("ListenDrops".to_owned(), secs as u64)].into(),
            ..HostReading::default()
        },
        generator: Watched {
            reading: generator,
            threads: Some(vec![thread(1, 0.1 * secs, 5)]),
            ..Watched::default()
        },
        servers: vec![Watched {
            reading: server,
            threads: Some(workers),
            fullest: Some(Queue { waiting: 3, limit: 3 }),
            ..Watched::default()
        }],
        // Looked at every fourth second: a compiler all the time, and a backup from the fifth second on.
        others: ((secs as u32).is_multiple_of(4)).then(|| {
            let backup = 0.2 * (secs - 5.0).max(0.0);
            [("rustc", 0.25 * secs), ("backup", backup)]
                .map(|(name, secs)| (name.to_owned(), Duration::from_secs_f64(secs)))
                .into()
        }),
    }
}

fn sampled() -> Sampled {
    let names = |names: &[(i32, &str)]| names.iter().map(|(id, name)| (*id, (*name).to_owned())).collect();
    Sampled {
        readings: (0..=10).map(|second| reading(f64::from(second))).collect(),
        limits: vec![Limits::default()],
        names: vec![names(&[(1, "load-0")]), names(&[(11, "http-nio-127.0."), (12, "http-nio-127.0.")])],
        ..Sampled::default()
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn rates_are_those_of_the_window() {
    let all = summarise(&sampled(), &Vec::new(), at(2.5), Duration::from_secs(5), 2);
    let server = &all.servers[0];
    assert!(close(server.cpu_cores.unwrap(), 0.5), "{server:?}");
    assert!(close(server.signals.cpu_system_cores.unwrap(), 0.1));
    assert_eq!(server.signals.rss_bytes, Some([2_500, 5_000, 7_500]));
    assert_eq!(server.signals.anonymous_bytes, Some([1_000, 2_000, 3_000]));
    assert_eq!(server.signals.threads, Some([15, 20, 25]));
    let earlier = summarise(&sampled(), &Vec::new(), at(1.5), Duration::from_secs(5), 2);
    assert_eq!(earlier.servers[0].signals.anonymous_bytes, None, "nobody looked at its start");
    assert_eq!(server.signals.connections.unwrap().max, 7, "those that wait are not accepted");
    assert!(close(server.signals.accept_queue.unwrap().full_share, 1.0));
    let unread = server.signals.unread.unwrap();
    assert!(unread.max == 8 && close(unread.mean, 6.8), "{unread:?}");
    assert!(close(server.signals.unacknowledged.unwrap().mean, 2.0));
    assert!(close(server.signals.disk_read_bytes_per_s.unwrap(), 2_000.0));
    assert_eq!(server.signals.disk_write_bytes_per_s, None, "nobody looked");
    assert!(close(all.host.others_cores.unwrap(), 0.3), "{:?}", all.host);
    assert!(close(all.host.generator_cores.unwrap(), 0.1));
    assert!(close(all.host.generator_switches_per_s.unwrap(), 0.0));
    // Between the looks at 0 and 8 s.
    let told: Vec<(&str, f64)> =
        all.host.others.iter().map(|it| (it.name.as_str(), (it.cores * 1e3).round())).collect();
    assert_eq!(told, [("rustc", 250.0), ("backup", 75.0)]);
    assert_eq!(all.host.network["ListenDrops"], 6);
    assert_eq!(all.host.network_before["ListenDrops"], 2);
    assert_eq!(all.readings.len(), 11);
}

/// Maven started the server, and is a JVM with a smaller number.
#[test]
fn of_several_jvms_the_one_that_works_is_told() {
    let mut sampled = sampled();
    for (second, reading) in sampled.readings.iter_mut().enumerate() {
        let jvm = |pid, cpu_s, gc_s, heap_max_bytes| {
            let reading = JvmReading { gc_s, heap_max_bytes, ..JvmReading::default() };
            Jvm { pid, cpu: Duration::from_secs_f64(cpu_s), reading }
        };
        let second = second as f64;
        reading.servers[0].jvms =
            vec![jvm(7, 30.0 + 0.001 * second, 1.0, 500), jvm(8, 9.0 + 0.5 * second, 0.2 * second, 64)];
    }
    let all = summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2);
    let jvm = all.servers[0].signals.jvm.unwrap();
    assert!(close(jvm.gc_share, 0.2) && jvm.heap_max_bytes == 64, "{jvm:?}");
    assert!(all.readings.iter().all(|it| it.servers[0].jvm.unwrap().heap_max_bytes == 64));
}

/// As of nginx with `listen 80; listen [::]:80;`: nobody comes by IPv6, and its queue is empty.
#[test]
fn the_queue_that_is_full_is_told_and_not_the_sum_of_all() {
    let mut sampled = sampled();
    for reading in &mut sampled.readings {
        let server = &mut reading.servers[0];
        (server.reading.accept_queue, server.reading.accept_queue_limit) = (Some(514), Some(1022));
        server.fullest = Some(Queue { waiting: 512, limit: 511 });
    }
    let server = &summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2).servers[0];
    let queue = server.signals.accept_queue.unwrap();
    assert_eq!((queue.max, queue.limit), (512, 511));
    assert!(close(queue.full_share, 1.0) && close(queue.mean, 514.0), "{queue:?}");
}

/// A shell that may have 1024 has started a JVM, which has more than that open, and may have 65,536.
#[test]
fn open_files_are_held_against_the_limit_of_who_has_them() {
    let mut sampled = sampled();
    for (reading, open) in sampled.readings.iter_mut().zip([900, 1_100, 40].into_iter().cycle()) {
        reading.servers[0].reading.open_files = Some(open);
        reading.servers[0].files = Some(OpenFiles { open, limit: 65_536 });
    }
    let all = summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2);
    let signals = &all.servers[0].signals;
    assert_eq!((signals.open_files_max, signals.open_files_limit), (Some(1_100), Some(65_536)));
}

#[test]
fn interrupts_are_counted_once() {
    let mut sampled = sampled();
    sampled.interrupts_within = Some(true);
    for reading in &mut sampled.readings {
        reading.host.interrupts_s = reading.host.busy_s / 3.0;
    }
    let host = summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2).host;
    assert_eq!(host.interrupts_within, Some(true));
    assert!(close(host.others_cores.unwrap(), 0.6), "1.2 in all, 0.6 of it ours: {host:?}");
    sampled.interrupts_within = Some(false);
    let host = summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2).host;
    assert!(close(host.others_cores.unwrap(), 0.3), "0.9 without interrupts, 0.6 of it ours: {host:?}");
}

#[test]
fn a_name_that_was_cut_off_is_called_so_until_it_is_known_whole() {
    let cut = &summarise(&sampled(), &Vec::new(), at(2.0), Duration::from_secs(5), 2).servers[0];
    assert_eq!(cut.thread_groups, [("http-nio-*.".to_owned(), 2)].into());
    assert!(cut.signals.groups[0].cut);
    let names = vec![
        [(11, "http-nio-127.0.0.1-80-exec-1".to_owned()), (12, "http-nio-127.0.0.1-80-Poller".to_owned())]
            .into(),
    ];
    let whole = &summarise(&sampled(), &names, at(2.0), Duration::from_secs(5), 2).servers[0];
    let groups: Vec<(&str, u32, bool)> =
        whole.signals.groups.iter().map(|it| (it.name.as_str(), it.active, it.cut)).collect();
    assert_eq!(groups, [("http-nio-*-Poller", 1, false), ("http-nio-*-exec-*", 1, false)]);
    let exec = &whole.signals.groups[1];
    assert!(close(exec.cpu_cores, 0.25) && close(exec.switches_per_s, 100.0), "{exec:?}");
}

#[test]
fn what_went_over_links_is_told_by_the_second_and_whom_a_server_asked_with_it() {
    let mut sampled = sampled();
    sampled.links = vec![Link { name: "eth0".into(), dir: PathBuf::new(), bytes_per_s: 125e6 }];
    for (second, reading) in sampled.readings.iter_mut().enumerate() {
        let second = second as u64;
        let bytes = LinkReading { received_bytes: 1_000 * second, sent_bytes: 10 * second };
        reading.host.links = [("eth0".to_owned(), bytes)].into();
    }
    sampled.asks = vec![vec![Asked { at: "127.0.0.1:5432".into(), connections: 10 }]];
    let all = summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2);
    let link = &all.host.links[0];
    assert!(close(link.received_bytes_per_s, 1_000.0) && close(link.sent_bytes_per_s, 10.0), "{link:?}");
    assert_eq!((link.name.as_str(), link.bytes_per_s), ("eth0", 125e6));
    assert_eq!(all.servers[0].signals.asks, sampled.asks[0]);
    // One that was not read is not told.
    sampled.readings.iter_mut().for_each(|it| it.host.links.clear());
    let all = summarise(&sampled, &Vec::new(), at(2.5), Duration::from_secs(5), 2);
    assert!(all.host.links.is_empty(), "{:?}", all.host.links);
}

#[test]
fn nothing_is_extrapolated() {
    let all = summarise(&sampled(), &Vec::new(), at(8.0), Duration::from_secs(5), 2);
    assert_eq!(all.servers[0].cpu_cores, None);
    assert_eq!(all.host.others_cores, None);
    let none = summarise(&Sampled::default(), &Vec::new(), at(1.0), Duration::from_secs(5), 2);
    assert!(none.servers.is_empty() && none.readings.is_empty());
}
