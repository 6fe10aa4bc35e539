//! What a case is: something planted or something healthy, in several sizes, and what may be said of it.

use crate::program::Program;
use crate::speaks::Speaks;

/// That nothing was found: better than what is wrong, and not what is asked for.
pub(crate) const UNEXPLAINED: &str = "unexplained";
/// That others took what was needed.
pub(crate) const NOISY_HOST: &str = "noisy_host";

/// What other numbers of users could refute: that the rate stays, or that it follows them.
const PROBED: [&str; 9] = [
    "pool_limit",
    "upstream_pool_limit",
    "limit_inside",
    "rate_limiter",
    "serial_section",
    "blocked_event_loop",
    "pinned_carriers",
    "cpu_bound",
    "idle_pace",
];

/// Something that a diagnosis is asked about.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// For people, and for `--only`.
    pub(crate) name: &'static str,
    pub(crate) nature: Nature,
    /// The kinds of verdict of which one must be named first.
    pub(crate) expected: &'static [&'static str],
    pub(crate) sizes: Vec<Size>,
}

impl Case {
    /// The size of this label.
    pub(crate) fn size(&self, label: &str) -> Option<&Size> {
        self.sizes.iter().find(|size| size.label == label)
    }

    /// The sizes that are run beside so many neighbours: all of them quiet, and each beside one or beside two, by turns.
    pub(crate) fn sizes_beside(&self, neighbours: u8) -> impl Iterator<Item = &Size> {
        let by_turns = neighbours > 0 && self.sizes.len() > 1;
        let its_turn = move |index: usize| !by_turns || index % 2 == usize::from(neighbours + 1) % 2;
        let sizes = self.sizes.iter().enumerate();
        sizes
            .filter(move |(index, size)| its_turn(*index) && size.is_run_beside(neighbours))
            .map(|(_, size)| size)
    }

    /// Whether what is named of a quiet run of `size` is put to the test.
    pub(crate) fn is_probed(&self, size: &Size) -> bool {
        let is_first = self.sizes.first().is_some_and(|first| first.label == size.label);
        is_first && size.load.rate.is_none() && self.expected.iter().any(|kind| PROBED.contains(kind))
    }

    /// Whether `kind` is what a run of `size` should name first, beside so many neighbours.
    pub(crate) fn is_right(&self, size: &Size, neighbours: u8, kind: &str) -> bool {
        self.expected.contains(&kind) || size.computes && neighbours > 0 && kind == NOISY_HOST
    }

    /// Whether `kind` blames something healthy. That the machine is noisy blames no server where it is so.
    pub(crate) fn is_accused(&self, size: &Size, neighbours: u8, kind: &str) -> bool {
        let is_innocent = kind == UNEXPLAINED || neighbours > 0 && kind == NOISY_HOST;
        self.nature == Nature::Healthy && !self.is_right(size, neighbours, kind) && !is_innocent
    }
}

/// Whether there is anything to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// One limit, known beforehand.
    Planted,
    /// Nothing but the load or the machine.
    Healthy,
}

/// One way in which it is planted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// What differs from the other sizes.
    pub(crate) label: &'static str,
    pub(crate) server: Server,
    pub(crate) load: Load,
    pub(crate) around: Around,
    /// It wants so much CPU time that neighbours may well be what limits it: beside them both names are right.
    pub(crate) computes: bool,
}

impl Size {
    /// Whether it is run beside so many neighbours: beside none, and beside more where nothing else is planted around it.
    pub(crate) fn is_run_beside(&self, neighbours: u8) -> bool {
        neighbours == 0 || self.around == Around::Quiet
    }
}

/// What is loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    /// The calibration server.
    Target(Target),
    /// A stack of the repository, or a variant of one.
    Stack(&'static str),
    /// A program of `planted/servers`.
    Program(Program),
}

/// `proofload target` as a stack of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    /// Its options, as they are typed; `{work_dir}` is the trial's folder.
    pub(crate) options: &'static str,
    /// The lines of its `[limits]`.
    pub(crate) limits: &'static str,
    /// Share of its answers that are errors.
    pub(crate) error_share: f64,
    /// Whether it closes the connection after each answer, by design.
    pub(crate) closes: bool,
    /// What it speaks.
    pub(crate) speaks: Speaks,
}

impl Target {
    /// One with these options.
    pub(crate) const fn new(options: &'static str) -> Self {
        Self { options, limits: "", error_share: 0.0, closes: false, speaks: Speaks::Http }
    }
}

/// How it is loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) endpoint: Endpoint,
    pub(crate) connections: u32,
    /// Users of each connection, of what speaks HTTP/2.
    pub(crate) streams: Option<u32>,
    /// Requests due a second; none in the closed model.
    pub(crate) rate: Option<&'static str>,
    /// A connection for each request.
    pub(crate) fresh: bool,
    pub(crate) warm_up_s: u32,
    pub(crate) window_s: u32,
    pub(crate) timeout_s: u32,
    /// Client and server on cores of their own.
    pub(crate) split: bool,
    /// What stands behind a proxy is measured alone, too.
    pub(crate) with_upstreams: bool,
}

impl Load {
    /// So many users who ask as soon as they were answered.
    pub(crate) const fn closed(endpoint: Endpoint, connections: u32) -> Self {
        Self {
            endpoint,
            connections,
            streams: None,
            rate: None,
            fresh: false,
            warm_up_s: 1,
            window_s: 4,
            timeout_s: 10,
            split: false,
            with_upstreams: false,
        }
    }

    /// What it takes at most, its boot and its last answers included, and a build of what it is made of.
    pub(crate) fn limit_s(&self) -> u64 {
        const BOOT_AND_BUILD_S: u32 = 120;
        let trials = if self.with_upstreams { 2 } else { 1 };
        u64::from(BOOT_AND_BUILD_S + trials * (self.warm_up_s + self.window_s + 2 * self.timeout_s))
    }
}

/// What is asked for. Both are answered by the target and by most of the stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// At once.
    Hello,
    /// After 100 ms.
    Sleep,
}

impl Endpoint {
    /// Its name in manifests.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Sleep => "sleep",
        }
    }
}

/// What else goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// Nothing of ours.
    Quiet,
    /// Processes that do nothing but use CPU time, so many for each of these cores, and kept there.
    Hogs { each: u32, on: Cores },
    /// A network of its own in which clients have so many ports.
    FewPorts(u16),
}

/// The cores of a load with client and server apart, as `proofload run` splits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cores {
    Client,
    Server,
    All,
}
