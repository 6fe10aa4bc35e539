/**
 * The sentences that come in English from the crate `explain`, and what they are in Chinese.
 *
 * A pattern is the sentence with its figures as `{name}`; the Chinese template has the same names, in its own order.
 * `{name:}` marks a part that is a sentence of this list itself, or several joined by commas; `{name;}` one that is several
 * joined by semicolons; `{name#}` a number. Where a sentence has no pattern it stays as it is. The patterns stand in the
 * order of the files they are from.
 */

type Pair = [english: string, chinese: string];

const VERDICTS: Pair[] = [
  // alone.rs
  ["one user alone was answered {rate} as well, and in {ms} ms after a pause", "只有一个用户时，应答速率同样是 {rate}；停顿之后只需 {ms} ms"],
  [
    "{asked} requests at once, after a pause, were all answered within {ms} ms: {rate}/s, which nothing does that lets so many in at a time",
    "停顿之后同时发出的 {asked} 个请求在 {ms} ms 内全部得到应答，即 {rate}/s；限制同时处理个数的机制做不到这一点",
  ],
  [
    "{asked} requests at once, after a pause, were answered one by one, the first by {first} ms and the last by {last} ms",
    "停顿之后同时发出的 {asked} 个请求被逐个应答，第一个在 {first} ms，最后一个在 {last} ms",
  ],
  [
    "of {asked} requests at once, after a pause, {count} were answered together, from {first} ms on, and the others by turns, the last by {last} ms",
    "停顿之后同时发出的 {asked} 个请求中，有 {count} 个从 {first} ms 起一起得到应答，其余轮流应答，最后一个在 {last} ms",
  ],
  ["after a pause an answer took {ms} ms, too: no limiter made others wait", "停顿之后应答同样用时 {ms} ms：没有限速器让请求等待"],
  [
    "one request at a time seems to have its turn: a lock, or a limiter at {rate}; answers after a pause did not tell which",
    "看来每次只处理一个请求：可能是锁，也可能是 {rate} 的限速器；停顿之后的应答不能区分二者",
  ],
  [
    "{asked} requests at once, after a pause, were answered one by one, the first by {first} ms and the last by {last} ms: a lock that is held for {held} ms of an answer's time, or a limiter at {rate} that saves nothing; the two look alike from outside",
    "停顿之后同时发出的 {asked} 个请求被逐个应答，第一个在 {first} ms，最后一个在 {last} ms：可能是在每次应答中占用 {held} ms 的锁，也可能是不积攒额度的 {rate} 限速器；从外部看二者相同",
  ],
  [
    "of {asked} requests at once, after a pause, the first was answered by {first} ms, sooner than one alone: they waited for something that comes by itself, as the tick of a clock does",
    "停顿之后同时发出的 {asked} 个请求中，第一个在 {first} ms 得到应答，比单独一个请求更快：它们等待的是自行到来的事件，例如时钟的节拍",
  ],
  [
    "a lock that is held for {held} ms, beyond the answer, would do the same; no burst told the two apart",
    "在应答之后仍占用、共 {held} ms 的锁也会如此；没有突发请求能区分二者",
  ],
  [
    "one user alone was answered in {kept} ms on a connection that is kept, and in {fresh} ms on a new one: each connection waits, whoever else there is (a timer, a limit for each connection?)",
    "只有一个用户时，在保持的连接上应答用时 {kept} ms，在新连接上为 {fresh} ms：无论还有谁，每个连接都在等待（定时器，或每个连接的限制？）",
  ],
  [
    "all wait for an idle server, each on its own connection: X × {ms} ms = {k} ≈ the {users} users of {connections} connections",
    "各自在自己的连接上等一台空闲的服务器：X × {ms} ms = {k} ≈ {connections} 个连接上的 {users} 个用户",
  ],
  [
    "all wait for an idle server, each on its own connection: X × {ms} ms = {k#} ({low#} to {high#}) ≈ the {users} users of {connections} connections",
    "各自在自己的连接上等一台空闲的服务器：X × {ms} ms = {k}（{low} 至 {high}）≈ {connections} 个连接上的 {users} 个用户",
  ],
  [
    "all wait for an idle server, each on its own connection: X × {ms} ms = {k#} ({low#} to {high#}) ≈ the {users} connections",
    "各自在自己的连接上等一台空闲的服务器：X × {ms} ms = {k}（{low} 至 {high}）≈ {users} 个连接",
  ],
  ["all wait for an idle server, each on its own connection: X × {ms} ms = {k} ≈ the {users} connections", "各自在自己的连接上等一台空闲的服务器：X × {ms} ms = {k} ≈ {users} 个连接"],
  // pauses.rs
  [
    "pauses of collections ended in {with} of {all} s, {sum} in all, and in none of the {most} slowest",
    "{all} 秒中有 {with} 秒内有垃圾回收停顿结束，合计 {sum}；最慢的 {most} 秒中都没有",
  ],
  [
    "pauses of collections ended in {with} of {all} s, {sum} in all, and in {some} of the {most} slowest, {took} of it",
    "{all} 秒中有 {with} 秒内有垃圾回收停顿结束，合计 {sum}；最慢的 {most} 秒中有 {some} 秒，占其中的 {took}",
  ],
  [
    "pauses of collections of {stack} ended in {with} of {all} s, {sum} in all, and in none of the {most} slowest",
    "{all} 秒中有 {with} 秒内有 {stack} 的垃圾回收停顿结束，合计 {sum}；最慢的 {most} 秒中都没有",
  ],
  [
    "pauses of collections of {stack} ended in {with} of {all} s, {sum} in all, and in {some} of the {most} slowest, {took} of it",
    "{all} 秒中有 {with} 秒内有 {stack} 的垃圾回收停顿结束，合计 {sum}；最慢的 {most} 秒中有 {some} 秒，占其中的 {took}",
  ],
  ["not compared: {count} s at an end of which a pause may lie on either side", "未参与比较：{count} 秒，其边界处的停顿可能属于前后任一秒"],
  ["{name:} of a second without pauses {without}, of one with {with} (medians)", "{name}：无停顿的秒为 {without}，有停顿的秒为 {with}（中位数）"],
  ["{name:} of a second without pauses {without}, of one with {with} (medians); {outcome:}", "{name}：无停顿的秒为 {without}，有停顿的秒为 {with}（中位数）；{outcome}"],
  ["99th percentile", "第 99 百分位"],
  ["longest answer", "最长应答"],
  ["nothing shows that slow seconds and pauses go together (p {p})", "没有迹象表明慢的秒与停顿同时出现（p {p}）"],
  ["slow seconds and pauses go together (p {p}), but such a second hardly differs from others", "慢的秒与停顿同时出现（p {p}），但这样的一秒与其他秒几乎没有差别"],
  [
    "slow seconds and pauses go together (p {p}), but pauses took {paused} of such a second and it is slower by more than twice that: look for what comes with them",
    "慢的秒与停顿同时出现（p {p}），但停顿在这样的一秒中只占 {paused}，而变慢的幅度超过其两倍：请查找与停顿一同出现的原因",
  ],
  [
    "slow seconds and pauses go together (p {p}), and pauses are long enough for that; a larger heap or another collector would tell whether they are why",
    "慢的秒与停顿同时出现（p {p}），且停顿的时长足以造成这一点；换用更大的堆或另一种收集器，可以分辨停顿是否就是原因",
  ],
  [
    "could not tell whether slow seconds and pauses go together: too few seconds have a pause",
    "无法判断慢的秒与停顿是否同时出现：有停顿的秒太少",
  ],
  ["could not tell whether slow seconds and pauses go together: too few seconds have none", "无法判断慢的秒与停顿是否同时出现：没有停顿的秒太少"],
  // rules/client.rs
  ["client-bound", "受限于客户端"],
  ["client-bound (its quota)", "受限于客户端（其配额）"],
  ["client-bound (starved of CPU)", "受限于客户端（得不到 CPU）"],
  ["noisy host", "主机受干扰"],
  ["give the client more cores; the rate should rise", "给客户端更多核心；速率应当上升"],
  ["a quota kept the generator's threads from running for {s} s a second", "配额使发生器的线程每秒有 {s} 秒不能运行"],
  ["lift the quota; the rate should rise", "取消配额；速率应当上升"],
  [
    "its threads waited {own} % of their time for a CPU and the server's {servers} %, while others used {cores} cores",
    "客户端线程有 {own} % 的时间在等待 CPU，服务器线程为 {servers} %，同时其他进程占用了 {cores} 个核心",
  ],
  ["end what runs on the client's cores; the rate should rise", "停掉占用客户端核心的程序；速率应当上升"],
  ["other processes used {used} of {cores} cores", "其他进程占用了 {cores} 个核心中的 {used} 个"],
  ["other processes used {used} of {cores} cores ({names})", "其他进程占用了 {cores} 个核心中的 {used} 个（{names}）"],
  ["the hypervisor took {share} % of the CPU", "虚拟机管理程序拿走了 {share} % 的 CPU"],
  ["some task waited for a CPU in {share} % of the time", "{share} % 的时间里有任务在等待 CPU"],
  ["measure again when the machine is idle", "等机器空闲时再测"],
  [
    "measure again while the hypervisor gives all of the CPU (are burst credits used up? is its host shared?)",
    "在虚拟机管理程序给出全部 CPU 时再测（突发积分用完了？物理主机与他人共用？）",
  ],
  ["declare whom the server asks (`upstream`), and measure again; the others should be few", "声明服务器所访问的对象（`upstream`）后再测；其他进程应当很少"],
  [
    "the server held {count} connections to {at}, which is no stack of the run: if that is on this machine, what it used is counted among the others",
    "服务器与 {at} 保持 {count} 个连接，而它不是本次运行中的栈：如果它就在这台机器上，它的用量被算在其他进程里",
  ],
  [
    "the server held 1 connection to {at}, which is no stack of the run: if that is on this machine, what it used is counted among the others",
    "服务器与 {at} 保持 1 个连接，而它不是本次运行中的栈：如果它就在这台机器上，它的用量被算在其他进程里",
  ],
  [
    "the server held {count} connections to {at}, which is no stack of the run and was not watched: declare it (`upstream`) to see whether it waits there",
    "服务器与 {at} 保持 {count} 个连接，而它不是本次运行中的栈，没有被观测：声明它（`upstream`），才能看出是否在那里等待",
  ],
  [
    "the server held 1 connection to {at}, which is no stack of the run and was not watched: declare it (`upstream`) to see whether it waits there",
    "服务器与 {at} 保持 1 个连接，而它不是本次运行中的栈，没有被观测：声明它（`upstream`），才能看出是否在那里等待",
  ],
  [
    "the server held {count} connections to {at}, which is no stack of the run and was not watched: what lets so few in may be there as well (the lock of a row, a thread, a pool)",
    "服务器与 {at} 保持 {count} 个连接，而它不是本次运行中的栈，没有被观测：每次只放行这么少的也可能在那里（行锁、单个线程、连接池）",
  ],
  [
    "the server held 1 connection to {at}, which is no stack of the run and was not watched: what lets so few in may be there as well (the lock of a row, a thread, a pool)",
    "服务器与 {at} 保持 1 个连接，而它不是本次运行中的栈，没有被观测：每次只放行这么少的也可能在那里（行锁、单个线程、连接池）",
  ],
  ["{stacks} stands behind it: what lets so few in may be there as well", "{stacks} 位于其后：每次只放行这么少的也可能在那里"],
  ["a request waited {waited} of {all} for a core, at most", "一个请求在 {all} 中至多有 {waited} 在等待核心"],
  ["`{name}`, with no time left, waited for a core in {share} % of the time", "没有余力的 `{name}` 有 {share} % 的时间在等待核心"],
  ["its threads waited for a core for {waited} s a second and ran for {ran}; the server did not wait", "客户端线程每秒有 {waited} 秒在等待核心，运行 {ran} 秒；服务器没有等待"],
  [
    "its threads waited for a core for {waited} s a second and ran for {ran}; the server lost {share} % of its time by that at most",
    "客户端线程每秒有 {waited} 秒在等待核心，运行 {ran} 秒；服务器因此至多损失 {share} % 的时间",
  ],
  ["client-bound (its file descriptors)", "受限于客户端（其文件描述符）"],
  [
    "{failed} of {all} requests ({share} %) found the client without a file descriptor to connect with (EMFILE)",
    "{all} 个请求中有 {failed} 个（{share} %）遇到客户端没有可用于连接的文件描述符（EMFILE）",
  ],
  ["raise the client's limit of open files (ulimit -n)", "提高客户端打开文件的上限（ulimit -n）"],
  // rules/cpu.rs
  ["the thread `{name}` was busy for {share} % of a core", "`{name}` 线程占用了一个核心的 {share} %"],
  ["one of the {threads} threads `{name}` was busy for {share} % of a core", "{threads} 个 `{name}` 线程中有一个占用了一个核心的 {share} %"],
  ["1 thread busy ({name})", "1 个线程占满（{name}）"],
  ["{busy#} of the {threads} threads `{name}` were busy for {share} % of a core each", "{threads} 个 `{name}` 线程中有 {busy} 个各占用了一个核心的 {share} %"],
  ["{busy#} threads busy ({name})", "{busy} 个线程占满（{name}）"],
  ["its process runs Go: a GOMAXPROCS of 1 looks like a lock", "它的进程运行 Go：GOMAXPROCS 为 1 时看起来就像锁"],
  [
    "the rest stood idle between one thread and the next, while {waiting} threads at a time waited for a core",
    "其余核心在线程交接之间空闲，同时平均有 {waiting} 个线程在等待核心",
  ],
  ["the rest of the quota was not used, while {waiting} threads at a time waited for a core", "配额的其余部分没有用上，同时平均有 {waiting} 个线程在等待核心"],
  [
    "of the other {rest} cores other processes used {used}, while {waiting} threads at a time waited for a core",
    "其余 {rest} 个核心中其他进程占用了 {used} 个，同时平均有 {waiting} 个线程在等待核心",
  ],
  [
    "of the other {rest} cores the hypervisor used {used}, while {waiting} threads at a time waited for a core",
    "其余 {rest} 个核心中虚拟机管理程序占用了 {used} 个，同时平均有 {waiting} 个线程在等待核心",
  ],
  [
    "of the other {rest} cores other processes used {used} and the hypervisor used {stolen}, while {waiting} threads at a time waited for a core",
    "其余 {rest} 个核心中其他进程占用了 {used} 个，虚拟机管理程序占用了 {stolen} 个，同时平均有 {waiting} 个线程在等待核心",
  ],
  [
    "each answer took {cpu} µs of CPU time, and one of the idle server {idle} µs in all: most of this CPU time went to something else (spinning, collections, what grows with the users), or cores were slower than those of the idle server (hyperthreads, their clock)",
    "每个应答用了 {cpu} µs 的 CPU 时间，而空闲服务器的一个应答总共只要 {idle} µs：这些 CPU 时间大部分用在了别处（空转、垃圾回收、随用户数增长的开销），或者核心比空闲时慢（超线程、时钟频率）",
  ],
  [
    "other threads of the server ran for {cores} cores meanwhile, and those who wait have had their requests read: whether they wait for this one is not known",
    "同时服务器的其他线程占用了 {cores} 个核心，等待者的请求也已被读取：它们是否在等这个线程不得而知",
  ],
  ["let more threads share its work; the rate should rise", "让更多线程分担它的工作；速率应当上升"],
  ["{threads} threads `{name}` used {cores} cores together, as if one at a time ran", "{threads} 个 `{name}` 线程合计只用了 {cores} 个核心，如同每次只有一个在运行"],
  [
    "{threads} threads `{name}` used {cores} cores together, as if one at a time ran in each of {processes} processes",
    "{threads} 个 `{name}` 线程合计只用了 {cores} 个核心，如同 {processes} 个进程中每个每次只有一个在运行",
  ],
  ["one at a time (a lock)", "一次一个（锁）"],
  ["one at a time ({name}'s lock)", "一次一个（{name} 的锁）"],
  ["let more processes share the work; the rate should rise", "让更多进程分担工作；速率应当上升"],
  ["shorten what is done under the lock by half; the rate should double", "把持锁的工作缩短一半；速率应当翻倍"],
  ["CPU-bound", "受限于 CPU"],
  ["CPU-bound ({part:})", "受限于 CPU（{part}）"],
  ["kernel {share#} %", "内核 {share} %"],
  ["GC {share#} %", "GC {share} %"],
  ["JIT {share#} %", "JIT {share} %"],
  ["the servers used {used} of {cores} cores, {us} µs a request", "服务器用掉了 {cores} 个核心中的 {used} 个，每个请求 {us} µs"],
  ["the servers used {used} of {cores} cores of their own, {us} µs a request", "服务器用掉了自己 {cores} 个核心中的 {used} 个，每个请求 {us} µs"],
  ["the servers used {used} of {cores} cores", "服务器用掉了 {cores} 个核心中的 {used} 个"],
  ["the servers used {used} of {cores} cores of their own", "服务器用掉了自己 {cores} 个核心中的 {used} 个"],
  ["of that {parts:}", "其中：{parts}"],
  ["cores by groups of threads: {groups}", "各组线程占用的核心：{groups}"],
  [
    "{share} % of the cores that there were for it were used: too much to rule them out, and too little to name them",
    "可供使用的核心用了 {share} %：多得不能排除 CPU，又少得不能断定是 CPU",
  ],
  ["the threads of this JVM have no names: it may be one that compiles or collects garbage", "这个 JVM 的线程没有名称：它可能是编译线程或垃圾回收线程"],
  ["give the server twice the cores; the rate should rise", "给服务器两倍的核心；速率应当上升"],
  [
    "give the server twice the cores and let more threads share its work; the rate should rise",
    "给服务器两倍的核心，并让更多线程分担它的工作；速率应当上升",
  ],
  [
    "client and server share the cores: {used} of {cores} used, {server} by the server and {client} by the client",
    "客户端与服务器共用核心：共 {cores} 个，用掉 {used} 个，其中服务器 {server} 个，客户端 {client} 个",
  ],
  ["box-bound", "受限于整机"],
  ["put client and server on cores of their own", "让客户端与服务器各用自己的核心"],
  ["load it from another machine; the rate should rise", "从另一台机器施加负载；速率应当上升"],
  ["threads were given a CPU {times} times for each request", "每个请求中线程被调度到 CPU {times} 次"],
  ["contention", "争用"],
  ["use fewer threads; the rate should rise", "减少线程；速率应当上升"],
  ["{share#} % of the CPU used", "CPU 用了 {share} %"],
  ["CPU use not known", "CPU 用量未知"],
  [
    "its process runs Go and used {used} cores, as many as a GOMAXPROCS of {procs} allows",
    "它的进程运行 Go，用了 {used} 个核心，正是 GOMAXPROCS 为 {procs} 时所允许的",
  ],
  ["the servers used {used} of {cores} cores that they may run on, {us} µs a request", "服务器用掉了可供其运行的 {cores} 个核心中的 {used} 个，每个请求 {us} µs"],
  ["the servers used {used} of {cores} cores that they may run on", "服务器用掉了可供其运行的 {cores} 个核心中的 {used} 个"],
  ["the servers used {used} of {cores} cores that their CPU quota allows, {us} µs a request", "服务器用掉了其 CPU 配额所允许的 {cores} 个核心中的 {used} 个，每个请求 {us} µs"],
  ["the servers used {used} of {cores} cores that their CPU quota allows", "服务器用掉了其 CPU 配额所允许的 {cores} 个核心中的 {used} 个"],
  ["a CPU quota allows it {cores} cores", "CPU 配额只允许它用 {cores} 个核心"],
  ["it waited for a core in {share} % of the time, while others used one", "它有 {share} % 的时间在等待核心，同时其他进程在占用"],
  ["all others of that name together for {share} %", "同名的其余线程合计占用 {share} %"],
  ["its process runs Go, whose threads run what is ready", "它的进程运行 Go，其线程运行任何就绪的工作"],
  ["its process runs {name}, whose code one thread of a process runs at a time", "它的进程运行 {name}，一个进程中每次只有一个线程在执行其代码"],
  ["its process runs JavaScript, on one thread", "它的进程在一个线程上运行 JavaScript"],
  ["a garbage collector may be part of it; that of {names:} can't be seen from outside", "其中可能有垃圾回收；{names} 的垃圾回收从外部看不到"],
  ["a JVM without counters", "没有计数器的 JVM"],
  [
    "the JVM's collector ran for {cores} cores beside the program: how long threads waited for it to make room (allocation stalls, pacing) is counted nowhere",
    "JVM 的回收器与程序并行，占用了 {cores} 个核心：线程等它腾出空间多久（分配停顿、限速）没有任何计数",
  ],
  [
    "Erlang's schedulers spin for a while before they sleep, and a part of this CPU time may be that: start it with `+sbwt none` to tell",
    "Erlang 的调度器在睡眠之前会空转一会儿，这里的 CPU 时间可能有一部分是空转：用 `+sbwt none` 启动它即可分辨",
  ],
  ["{unread} of {connections} connections held a request that was not read", "{connections} 个连接中有 {unread} 个存有尚未读取的请求"],
  ["about {k} at a time (a limit inside)", "每次约 {k} 个（内部限制）"],
  ["{law:} ≈ {k}, and the rate was the same in every second (± {scatter} %)", "{law} ≈ {k}，且每一秒的速率都相同（± {scatter} %）"],
  ["no group of threads or processes has {k}: {groups:}", "没有哪组线程或进程是 {k} 个：{groups}"],
  ["`{name}` {sizes:}", "`{name}` {sizes}"],
  ["{n#} threads for any number of requests", "{n} 个线程，处理任意个数的请求"],
  ["{n#} threads", "{n} 个线程"],
  ["{n#} thread", "{n} 个线程"],
  ["{n#} processes", "{n} 个进程"],
  ["{n#} process", "{n} 个进程"],
  ["{n#} threads or {others:}", "{n} 个线程或 {others}"],
  ["{n#} thread or {others:}", "{n} 个线程或 {others}"],
  ["{n#} processes or {others:}", "{n} 个进程或 {others}"],
  ["{n#} process or {others:}", "{n} 个进程或 {others}"],
  [
    "{k} threads `{name}` run for the requests, too, however little: that number may be theirs",
    "{k} 个 `{name}` 线程也为请求运行，尽管很少：这个数目可能是它们的",
  ],
  ["{k} threads of {names} names work, all together: that number may be theirs", "{names} 种名称的线程合计有 {k} 个在工作：这个数目可能是它们的"],
  ["threads `{name}` ended meanwhile: how many there were at a time is not known", "其间有 `{name}` 线程结束：同时有多少个不得而知"],
  ["requests wait inside: {unread:}", "请求在内部等待：{unread}"],
  ["the server held {k} connections to {at}: a pool of connections has that number", "服务器与 {at} 保持 {k} 个连接：一个连接池正是这个数目"],
  [
    "double what lets {k} in at a time (a semaphore, a pool of connections?); the rate should double. Other numbers of users tell, too: the rate stays from {k2} users on, and follows them below",
    "把每次放行 {k} 个的机制（信号量、连接池？）加倍；速率应当翻倍。换用户数也能分辨：从 {k2} 个用户起速率不变，以下则随用户数变化",
  ],
  ["limiter at {rate}", "{rate} 的限速器"],
  ["sheds load beyond {rate}", "超过 {rate} 的负载被拒绝"],
  [
    "{share} % of {all} answers were {status} ({says:}), and {rate} were good in every second (± {scatter} %)",
    "{all} 个应答中有 {share} % 是 {status}（{says}），而每一秒都有 {rate} 是正确的（± {scatter} %）",
  ],
  ["service unavailable", "服务不可用"],
  ["too many requests", "请求过多"],
  [
    "{share} % of all requests were done within {ms} ms, and no answer of the idle server took less than {idle} ms",
    "{share} % 的请求在 {ms} ms 内完成，而空闲服务器的应答没有一个少于 {idle} ms",
  ],
  ["{answers} requests to the idle server, one after the other, were all answered as expected", "对空闲服务器逐个发出的 {answers} 个请求全部得到了预期的应答"],
  ["one user alone, at {us} µs an answer, would ask more often than it lets through", "单独一个用户，每个应答 {us} µs，发出请求就已比它放行的更频繁"],
  ["a limiter, or a bound on what may wait before something that serves no more", "可能是限速器，也可能是对排队数目的限制，其后的部件已不能处理更多"],
  [
    "the rate was {rate} in every second (± {scatter} %), though X·S₀ is {k}: the server had nothing to do for some of the time, and {users} users waited",
    "每一秒的速率都是 {rate}（± {scatter} %），尽管 X·S₀ 为 {k}：服务器有部分时间无事可做，却有 {users} 个用户在等待",
  ],
  ["the rate was {rate} in every second (± {scatter} %), though X·S₀ is {k}: {users} users waited", "每一秒的速率都是 {rate}（± {scatter} %），尽管 X·S₀ 为 {k}：有 {users} 个用户在等待"],
  [
    "the rate was the same in every second (± {scatter} %) with CPU left: a limit inside or a limiter may keep it; measure it with half and twice the users to tell",
    "每一秒的速率都相同（± {scatter} %），且 CPU 尚有余量：可能由内部限制或限速器所致；用一半和两倍的用户来测即可分辨",
  ],
  [
    "the rate was the same in every second (± {scatter} %) with CPU left: the way from the machines that made the load, a limit inside or a limiter may keep it; measure it with half and twice the users to tell",
    "每一秒的速率都相同（± {scatter} %），且 CPU 尚有余量：可能由施加负载的机器到这里的路程、内部限制或限速器所致；用一半和两倍的用户来测即可分辨",
  ],
  ["load it with half and twice the users; the rate should stay at {rate}", "用一半和两倍的用户施加负载；速率应当保持在 {rate}"],
  // rules/network.rs
  ["{failed} of {all} requests ({share} %) found no port to connect from (EADDRNOTAVAIL)", "{all} 个请求中有 {failed} 个（{share} %）找不到可用的本地端口（EADDRNOTAVAIL）"],
  ["{count} sockets were in TIME_WAIT before it began", "开始之前有 {count} 个套接字处于 TIME_WAIT"],
  ["client's ports used up", "客户端端口用尽"],
  ["keep connections, or widen net.ipv4.ip_local_port_range", "保持连接，或放宽 net.ipv4.ip_local_port_range"],
  [
    "{acks} acknowledgements a request waited for their timer, and the median answer took {ms} ms",
    "平均每个请求有 {acks} 个确认等到定时器到期，应答时间中位数为 {ms} ms",
  ],
  ["delayed ACK (40 ms)", "延迟确认（40 ms）"],
  ["{held} of {connections} connections held a part of an answer that was not acknowledged", "{connections} 个连接中有 {held} 个存有尚未被确认的部分应答"],
  ["send an answer at once, or set TCP_NODELAY; it should take less than 40 ms", "一次发出整个应答，或设置 TCP_NODELAY；用时应当少于 40 ms"],
  [
    "the kernel dropped {all} handshakes, {within} of them within the window, because an accept queue was full",
    "因为接受队列已满，内核丢弃了 {all} 次握手，其中 {within} 次在测量窗口内",
  ],
  [
    "it holds {limit} connections, up to {max} waited, and it was full in {share} % of the readings",
    "队列容纳 {limit} 个连接，最多有 {max} 个在等，{share} % 的读数中它是满的",
  ],
  ["{count} SYNs were sent again, after 1, 3, 7 or 15 s", "{count} 个 SYN 在 1、3、7 或 15 秒后重发"],
  [
    "lengthen the queue (backlog, and net.core.somaxconn, which bounds it); handshakes should no longer be dropped",
    "加长队列（backlog，以及限制它的 net.core.somaxconn）；不应再丢弃握手",
  ],
  ["accept queue full", "接受队列已满"],
  ["accept queue full ({stack})", "接受队列已满（{stack}）"],
  ["{mean} of {users} users waited for their new connection to be accepted", "{users} 个用户中有 {mean} 个在等新连接被接受"],
  ["keep connections open; the rate should rise", "保持连接；速率应当上升"],
  ["{connections} connections for {answers} answers: a new one for each, and {who:}", "{answers} 个应答用了 {connections} 个连接：每个应答一个新连接，{who}"],
  ["the server closes it", "由服务器关闭"],
  ["the client closes it", "由客户端关闭"],
  ["a connection a request", "每个请求一个连接"],
  [
    "{connections} connections for {answers} answers: {who:} at each {k}st, which takes about {share} % of the work",
    "{answers} 个应答用了 {connections} 个连接：每到第 {k} 个{who}，约占 {share} % 的工作",
  ],
  [
    "{connections} connections for {answers} answers: {who:} at each {k}nd, which takes about {share} % of the work",
    "{answers} 个应答用了 {connections} 个连接：每到第 {k} 个{who}，约占 {share} % 的工作",
  ],
  [
    "{connections} connections for {answers} answers: {who:} at each {k}rd, which takes about {share} % of the work",
    "{answers} 个应答用了 {connections} 个连接：每到第 {k} 个{who}，约占 {share} % 的工作",
  ],
  [
    "{connections} connections for {answers} answers: {who:} at each {k}th, which takes about {share} % of the work",
    "{answers} 个应答用了 {connections} 个连接：每到第 {k} 个{who}，约占 {share} % 的工作",
  ],
  [
    "{connections} connections for {answers} answers: {who:} after {k} on average, which takes about {share} % of the work",
    "{answers} 个应答用了 {connections} 个连接：平均每 {k} 个之后{who}，约占 {share} % 的工作",
  ],
  ["a connection for {k} requests", "每 {k} 个请求一个连接"],
  // Of earlier versions.
  ["{connections} connections for {requests} requests: a new one for each, and {who:}", "{requests} 个请求用了 {connections} 个连接：每个请求一个新连接，{who}"],
  [
    "{connections} connections for {requests} requests: {who:} at each {k}th, which takes about {share} % of the work",
    "{requests} 个请求用了 {connections} 个连接：每到第 {k} 个{who}，约占 {share} % 的工作",
  ],
  // weight.rs
  ["it can account for {share} % of the rate at most", "它至多能解释速率的 {share} %"],
  ["it can account for {share} % of the requests at most", "它至多能解释请求的 {share} %"],
  ["keep-alive cap of {k}", "长连接上限 {k} 个请求"],
  ["network link full ({name})", "网络链路已满（{name}）"],
  [
    "the network link {name} received {used} MB/s, {share} % of its speed ({speed} MB/s); {answers} MB/s of it were answers",
    "网络链路 {name} 接收 {used} MB/s，达到其速度（{speed} MB/s）的 {share} %；其中 {answers} MB/s 是应答",
  ],
  [
    "the network link {name} sent {used} MB/s, {share} % of its speed ({speed} MB/s); {answers} MB/s of it were answers",
    "网络链路 {name} 发送 {used} MB/s，达到其速度（{speed} MB/s）的 {share} %；其中 {answers} MB/s 是应答",
  ],
  ["ask for smaller answers (compressed?), or use a faster link; the rate should rise", "请求更小的应答（压缩？），或换更快的链路；速率应当上升"],
  // rules/pools.rs
  ["{rate}/s of {asked}/s due", "要求 {asked}/s，做到 {rate}/s"],
  ["none: keeps the rate", "无：跟得上要求的速率"],
  ["raise the rate", "提高速率"],
  ["all wait for an idle server: {law:} ≈ the {users} connections", "都在等一台空闲的服务器：{law} ≈ {users} 个连接"],
  [
    "all wait for an idle server: {law:} ≈ the {users} users of {connections} connections",
    "都在等一台空闲的服务器：{law} ≈ {connections} 个连接上的 {users} 个用户",
  ],
  ["none: idle pace", "无：空闲节奏"],
  ["the {users} connections were answered as an idle server answers: {law:}", "{users} 个连接得到应答的情形与空闲服务器相同：{law}"],
  [
    "the {users} users of {connections} connections were answered as an idle server answers: {law:}",
    "{connections} 个连接上的 {users} 个用户得到应答的情形与空闲服务器相同：{law}",
  ],
  [
    "rank by rank, fast ones and slow ones, they took as long as those of the idle server; {share} % of the time is what all of them can have waited for each other at most",
    "无论快慢，逐位比较，用时都与空闲服务器的应答相当；它们互相等待的时间至多占 {share} %",
  ],
  [
    "the mean answer took {mean} ms; {count} answers of the idle server took {shortest} to {longest} ms, and their mean is {idle} ms ({low} to {high})",
    "平均应答用时 {mean} ms；空闲服务器的 {count} 个应答用时 {shortest} 至 {longest} ms，平均 {idle} ms（{low} 至 {high}）",
  ],
  ["X·S₀ = {rate} × {ms} ms = {n#} ({low#} to {high#})", "X·S₀ = {rate} × {ms} ms = {n}（{low} 至 {high}）"],
  ["double the connections; the rate should double", "把连接数加倍；速率应当翻倍"],
  ["the mean answer took {mean} ms, and that of an idle server {idle} ms", "平均应答用时 {mean} ms，空闲服务器为 {idle} ms"],
  ["let twice as many users come; the rate should double", "让两倍的用户到来；速率应当翻倍"],
  ["{law:} ≈ the {k} connections held to {stack} (mean {mean})", "{law} ≈ 与 {stack} 保持的 {k} 个连接（平均 {mean}）"],
  ["{k} connections were held to {stack} as well: their number, or that of the threads", "与 {stack} 保持的连接也是 {k} 个：限制可能是连接数，也可能是线程数"],
  ["{k} connections were held to {stack} as well: their number, or that of the processes", "与 {stack} 保持的连接也是 {k} 个：限制可能是连接数，也可能是进程数"],
  ["{k#} connections to {stack}", "与 {stack} 的 {k} 个连接"],
  ["make it {k} connections to it; the rate should become {rate}/s", "改为 {k} 个与它的连接；速率应当变为 {rate}/s"],
  ["make it {k} threads; the rate should become {rate}/s", "改为 {k} 个线程；速率应当变为 {rate}/s"],
  ["make it {k} processes; the rate should become {rate}/s", "改为 {k} 个进程；速率应当变为 {rate}/s"],
  ["{law:} ≈ {k} threads `{names}`", "{law} ≈ {k} 个 `{names}` 线程"],
  ["{law:} ≈ {k} thread `{names}`", "{law} ≈ {k} 个 `{names}` 线程"],
  ["{law:} ≈ {k} processes `{names}`", "{law} ≈ {k} 个 `{names}` 进程"],
  ["{law:} ≈ {k} process `{names}`", "{law} ≈ {k} 个 `{names}` 进程"],
  ["{share} % of what {stack} carries when it is asked directly ({rate}/s)", "是直接访问 {stack} 时（{rate}/s）的 {share} %"],
  ["backend ({stack})", "后端（{stack}）"],
  ["make {stack} faster; the rate should follow it", "让 {stack} 更快；速率应当随之上升"],
  ["{k} pinned carriers", "{k} 个被钉住的载体线程"],
  ["the JVM recorded {count} times that a virtual thread was pinned", "JVM 记录到虚拟线程被钉住 {count} 次"],
  ["they carry virtual threads, and hold one each for as long as an answer takes", "它们承载虚拟线程，且在整个应答期间各占住一个"],
  ["block without pinning; the rate should no longer follow the cores", "阻塞时不要钉住载体；速率应当不再跟随核心数"],
  ["pool of {k} ({names})", "{k} 个线程的池（{names}）"],
  ["pool of {k} processes ({names})", "{k} 个进程的池（{names}）"],
  ["1 thread ({name})", "1 个线程（{name}）"],
  ["hand what blocks to other threads; answers should no longer wait for each other", "把阻塞的工作交给其他线程；应答不应再互相等待"],
  ["event loop blocked ({name})", "事件循环被阻塞（{name}）"],
  ["it holds {held} connections and waits for one request", "它保持 {held} 个连接，却只在等一个请求"],
  ["{law:} ≈ 1 request at a time, though the {threads} threads `{name}` all work", "{law} ≈ 每次 1 个请求，尽管 {threads} 个 `{name}` 线程都在工作"],
  [
    "{law:} ≈ 1 request at a time, though thread `{name}` has read the others: {unread:}",
    "{law} ≈ 每次 1 个请求，尽管 `{name}` 线程已读取其余的请求：{unread}",
  ],
  [
    "they have read the requests of those who wait: {k} of something inside (a semaphore, connections) may hold them as well",
    "它们已读取等待者的请求：拦住这些请求的也可能是内部共有 {k} 个的别的东西（信号量、连接）",
  ],
  ["these {k} threads share the work alike", "这 {k} 个线程均匀地分担工作"],
  ["these {k} processes share the work alike", "这 {k} 个进程均匀地分担工作"],
  // rules/protocols.rs
  ["TLS handshakes", "TLS 握手"],
  ["{handshakes} TLS handshakes a second, {each} for each answer, and {full} % of them full", "每秒 {handshakes} 次 TLS 握手，每个应答 {each} 次，其中 {full} % 是完整握手"],
  ["it made {handshakes} TLS handshakes a second, {each} for each answer, and {full} % of them full", "它每秒进行 {handshakes} 次 TLS 握手，每个应答 {each} 次，其中 {full} % 是完整握手"],
  [
    "an answer took {busy} µs of the server's CPU time; the idle server and its client took {idle} µs in all for an answer, and {connection} µs for a connection with its handshake",
    "每个应答占用服务器 {busy} µs 的 CPU 时间；服务器空闲时，它与客户端总共用 {idle} µs 完成一个应答，用 {connection} µs 建立一个连接（含握手）",
  ],
  [
    "on connections that were kept, an answer took {server} µs of the server's CPU time in this run, and {client} µs of the client's",
    "在本次运行中，保持连接时每个应答占用服务器 {server} µs、客户端 {client} µs 的 CPU 时间",
  ],
  ["keep connections, or resume sessions; the rate should rise", "保持连接，或恢复会话；速率应当上升"],
  ["flow control (the server's windows)", "流量控制（服务器的窗口）"],
  [
    "the bodies of {waits} requests waited for the server's windows: on average {held} did, of {open} requests that were under way",
    "有 {waits} 个请求的正文等待过服务器的窗口：在途的 {open} 个请求中平均有 {held} 个在等",
  ],
  ["either its windows are small for the way there, or whoever reads the bodies takes its time", "要么窗口对这段路程来说太小，要么读取正文的一方太慢"],
  [
    "let the server open larger windows, for streams and for connections (SETTINGS_INITIAL_WINDOW_SIZE); the rate should rise",
    "让服务器为流和连接开更大的窗口（SETTINGS_INITIAL_WINDOW_SIZE）；速率应当上升",
  ],
  ["stream limit (about {k} at a time)", "流的上限（同时约 {k} 个）"],
  [
    "{waits} requests waited for a stream, since their server allows no more of them at a time: on average {waiting} waited, and {open} had one, on {connections} connections",
    "有 {waits} 个请求等待过流，因为服务器不允许同时有更多的流：平均有 {waiting} 个在等，{open} 个有流，共 {connections} 个连接",
  ],
  ["an answer took {ms} ms on a stream, and that of the idle server {idle} ms", "在流上应答用时 {ms} ms，空闲服务器为 {idle} ms"],
  [
    "allow twice the streams a connection (MAX_CONCURRENT_STREAMS); the rate should become {rate}/s",
    "把每个连接允许的流数加倍（MAX_CONCURRENT_STREAMS）；速率应当变为 {rate}/s",
  ],
  // rules/steady.rs
  ["{first}/s in the first third of the window and {last}/s in the last", "窗口前三分之一为 {first}/s，后三分之一为 {last}/s"],
  ["the JVM's compilers were busy for {cores} of a core", "JVM 的编译器占用了 {cores} 个核心"],
  ["not steady (warming up)", "不稳定（仍在预热）"],
  ["not steady (slowing down)", "不稳定（正在变慢）"],
  ["not steady (two levels)", "不稳定（两个水平）"],
  ["{before} in the first {at} s of the window and {after} in the rest", "窗口的前 {at} s 为 {before}，其余为 {after}"],
  ["warm up for longer; the whole window should be at the later level", "延长预热；整个窗口应当处于后一个水平"],
  ["warm up for longer; the trend should go", "延长预热；趋势应当消失"],
  [
    "measure for longer, and look for what grows or is used up (data, memory, burst credits, heat); the rate should go on falling",
    "延长测量，并查找在增长或被用完的东西（数据、内存、突发积分、发热）；速率应当继续下降",
  ],
  [
    "its threads grew from {start} to {middle} to {end} over the window, as those of a pool do that adds some while all of them wait (that of .NET one or two a second)",
    "窗口内它的线程从 {start} 个经 {middle} 个增至 {end} 个，如同在线程全都等待时陆续增加线程的线程池（.NET 的线程池每秒增加一两个）",
  ],
  [
    "memory that no file stands behind (heap, stacks) grew from {start} to {middle} to {end} MiB over the window, {each} bytes a request, and did not level out",
    "窗口内没有文件支撑的内存（堆、栈）从 {start} 经 {middle} 增至 {end} MiB，每个请求 {each} 字节，且没有趋于平稳",
  ],
  [
    "resident memory grew from {start} to {middle} to {end} MiB over the window, {each} bytes a request, and did not level out",
    "窗口内常驻内存从 {start} 经 {middle} 增至 {end} MiB，每个请求 {each} 字节，且没有趋于平稳",
  ],
  [
    "its runtime collects garbage, and may let its heap grow like this for a while",
    "其运行时会回收垃圾，堆可能会这样增长一段时间",
  ],
  ["to keep what it is given is what a cache or a database is for", "缓存或数据库本来就要保存交给它的内容"],
  ["the rate was not seen to fall with it", "未见速率随之下降"],
  ["memory grows", "内存增长"],
  ["memory grows ({stack})", "内存增长（{stack}）"],
  ["measure for longer; memory should go on growing with the requests", "延长测量；内存应当继续随请求增长"],
  // rules/work.rs
  ["{open} open files of {stack}, of {limit} that are allowed", "{stack} 打开了 {open} 个文件，上限 {limit}"],
  ["{open} open files, of {limit} that are allowed", "打开了 {open} 个文件，上限 {limit}"],
  ["up to {count} connections waited to be accepted", "最多有 {count} 个连接在等待被接受"],
  ["{limit} file descriptors", "{limit} 个文件描述符"],
  ["raise the limit of open files; all connections should be served", "提高打开文件的上限；所有连接应当都得到服务"],
  ["{share} % of {all} requests: {kinds:}", "{all} 个请求的 {share} %：{kinds}"],
  ["{count#} answered otherwise than expected", "{count} 个应答与预期不符"],
  ["{count#} not connected", "{count} 个未连上"],
  ["{count#} not secured by TLS", "{count} 个未能建立 TLS"],
  ["{count#} refused as streams", "{count} 个流被拒绝"],
  ["{count#} reset as streams", "{count} 个流被重置"],
  [
    "{count#} answered otherwise than expected ({redirects#} redirects, which are not followed)",
    "{count} 个应答与预期不符（其中 {redirects} 个是重定向，不会跟随）",
  ],
  ["{count#} reset", "{count} 个被重置"],
  ["{count#} closed early", "{count} 个过早关闭"],
  ["{count#} malformed", "{count} 个格式错误"],
  ["{count#} timed out", "{count} 个超时"],
  ["{count#} connect failed", "{count} 个连接失败"],
  ["{count#} in flight", "{count} 个仍在途"],
  ["{count#} tls failed", "{count} 个 TLS 失败"],
  ["{count#} refused stream", "{count} 个流被拒绝"],
  ["{count#} stream reset", "{count} 个流被重置"],
  ["{count#} gone away", "{count} 个未处理即断开"],
  ["statuses: {all}; what fails fast makes a rate look good, goodput is {rate}/s", "状态码：{all}；失败得快会让速率好看，有效速率为 {rate}/s"],
  [
    "502 and 504 are what a gateway says of whom it asks: that one could not be reached, broke off or took too long; the gateway's own log says which",
    "502 与 504 是网关对其后端的说法：后端无法连接、中断或超时；是哪一种要看网关自己的日志",
  ],
  ["wrong answers ({share} %)", "错误应答（{share} %）"],
  ["mend the errors and measure again", "先修复错误再测"],
  [
    "the control group of {stack} may use {allowed} cores and used {used}; threads were kept from running for {held} s a second",
    "{stack} 的控制组可用 {allowed} 个核心，用了 {used} 个；线程每秒有 {held} 秒不得运行",
  ],
  [
    "the control group may use {allowed} cores and used {used}; threads were kept from running for {held} s a second",
    "控制组可用 {allowed} 个核心，用了 {used} 个；线程每秒有 {held} 秒不得运行",
  ],
  ["CPU quota of {cores} cores", "CPU 配额 {cores} 个核心"],
  ["CPU quota of {cores} cores (client and server)", "CPU 配额 {cores} 个核心（客户端与服务器共用）"],
  [
    "the control group of {stack}, with the client in it, may use {allowed} cores and used {used}; threads were kept from running for {held} s a second",
    "{stack} 的控制组（客户端也在其中）可用 {allowed} 个核心，用了 {used} 个；线程每秒有 {held} 秒不得运行",
  ],
  [
    "the control group, with the client in it, may use {allowed} cores and used {used}; threads were kept from running for {held} s a second",
    "客户端也在其中的控制组可用 {allowed} 个核心，用了 {used} 个；线程每秒有 {held} 秒不得运行",
  ],
  ["double the quota and let more threads share its work: one of them fills a core by itself", "把配额加倍，并让更多线程分担它的工作：单个线程就已占满一个核心"],
  ["double the quota; the rate should double, as far as there are cores", "把配额加倍；只要有核心，速率应当翻倍"],
  [
    "some of it is left on average, unless others of its group take that: bursts use up what a period allows, and wait for the next",
    "平均仍有剩余，除非被同组的其他进程用掉：突发工作用完一个周期的额度后，要等到下一个周期",
  ],
  ["{each} bytes a request to a disk, {rate} MB/s", "每个请求向磁盘写 {each} 字节，{rate} MB/s"],
  ["how long it waited for the disk is not known", "它等磁盘多久不得而知"],
  ["one of its threads waited for a disk in {share} % of the time", "它的一个线程有 {share} % 的时间在等磁盘"],
  ["one of the threads of {stack} waited for a disk in {share} % of the time", "{stack} 的一个线程有 {share} % 的时间在等磁盘"],
  [
    "{read} MB/s were read from a disk, and {written} written: what waits for a disk may wait for what it reads",
    "从磁盘读取 {read} MB/s，写入 {written} MB/s：等待磁盘的可能是在等读取",
  ],
  ["some task waited for memory in {share} % of the time", "{share} % 的时间里有任务在等待内存"],
  ["writes to a disk", "写磁盘"],
  ["writes to a disk ({stack})", "写磁盘（{stack}）"],
  ["log less, or without syncing; the rate should rise", "少写日志，或不做同步写；速率应当上升"],
  ["the JVM of {stack} stood still for {share} % of the time in {rate} collections a second", "{stack} 的 JVM 每秒回收 {rate} 次，{share} % 的时间停顿"],
  ["the JVM stood still for {share} % of the time in {rate} collections a second", "JVM 每秒回收 {rate} 次，{share} % 的时间停顿"],
  ["up to {used} of {max} MiB of heap in use", "堆最多用到 {max} MiB 中的 {used} MiB"],
  ["garbage collection ({share} %)", "垃圾回收（{share} %）"],
  ["give it several times the heap; collections should be rare and the rate higher", "给它数倍的堆；回收应当变少，速率应当更高"],
  ["it has heap left, so take another collector; it should stand still for less", "堆还有余，换一种回收器；停顿应当减少"],
  // rules/exclusions.rs
  [
    "the client: its busiest thread was busy {busy} % of the time, {share} % of what it reaches of the calibration target",
    "客户端：最忙的线程忙了 {busy} % 的时间，速率为它对校准目标所能达到的 {share} %",
  ],
  ["the client: its busiest thread was busy {busy} % of the time", "客户端：最忙的线程忙了 {busy} % 的时间"],
  ["others on the machine: {cores} cores", "机器上的其他进程：{cores} 个核心"],
  ["others on the machine: {used} of its {cores} cores, and some stood idle", "机器上的其他进程：{cores} 个核心中的 {used} 个，另有核心空闲"],
  ["a CPU quota: there is none", "CPU 配额：没有设置"],
  ["garbage collection: {share} % of the time", "垃圾回收：占 {share} % 的时间"],
  ["the accept queue: up to {max} of {limit} waited", "接受队列：{limit} 个位置中最多 {max} 个在等"],
  ["the CPU: {words:}", "CPU：{words}"],
  // reasons.rs
  // levels.rs and confirmation.rs
  ["the next limit is so near that nothing was to be seen", "下一个限制离得太近，看不出变化"],
  ["{why:}; what lets so many in at a time would keep it as well", "{why}；每次只放行这么多的机制也会使它保持不变"],
  ["{why:}; what lets so many through in a second would keep it as well", "{why}；每秒只放行这么多的机制也会使它保持不变"],
  ["with {users#} users it was {low} once and {high} another time", "{users} 个用户时，一次为 {low}，另一次为 {high}"],
  ["the cores were used up, which keeps a rate as well", "核心已用尽，这也会使速率保持不变"],
  ["with {more#} users it was {up#} times the rate", "{more} 个用户时为该速率的 {up} 倍"],
  ["with {more#} users it was {up#} times the rate: it follows the users", "{more} 个用户时为该速率的 {up} 倍：它随用户数变化"],
  ["with {more#} users it was {up#} times the rate, neither the same nor twice", "{more} 个用户时为该速率的 {up} 倍，既不相同也不是两倍"],
  ["with {more#} users it was {up#} times the rate: there were cores for them", "{more} 个用户时为该速率的 {up} 倍：仍有核心可用"],
  ["with {more#} users it was {up#} times the rate, and the cores were used up", "{more} 个用户时为该速率的 {up} 倍，核心已用尽"],
  ["with {more#} users it was {up#} times the rate, and the cores were used up ({share#} %)", "{more} 个用户时为该速率的 {up} 倍，核心已用尽（{share} %）"],
  ["with {users#} users it was {down#} of the rate, and with {more#} {up#} times", "{users} 个用户时为该速率的 {down} 倍，{more} 个用户时为 {up} 倍"],
  ["the rate was the same with {more#} users", "{more} 个用户时速率相同"],
  ["the rate was the same with {more#} users, and with {users#}", "{more} 个用户和 {users} 个用户时速率相同"],
  [
    "the rate was the same with {more#} users, with {users#} it was {down#} of it, as of so many that have their turn at once",
    "{more} 个用户时速率相同；{users} 个用户时为其 {down} 倍，与每次处理这么多个相符",
  ],
  [
    "the rate was the same with {more#} users, but {down#} of it with {users#}, where the limit would leave {of_limit#}",
    "{more} 个用户时速率相同，但 {users} 个用户时为其 {down} 倍，而按该限制应为 {of_limit} 倍",
  ],
  ["the rate was the same with {more#} users, and cores were left", "{more} 个用户时速率相同，且核心尚有余量"],
  ["the rate was the same with {more#} users, and cores were left ({share#} %)", "{more} 个用户时速率相同，且核心尚有余量（{share} %）"],
  [
    "the rate was the same with {more#} users and less with fewer: something holds it from about {same#} users on",
    "{more} 个用户时速率相同，用户更少时降低：从约 {same} 个用户起有什么限制着它",
  ],
  [
    "the rate was the same whatever the users: something lets so many requests through in a second, or few in at a time",
    "无论多少用户速率都相同：有什么每秒只放行这么多请求，或每次只放行少数几个",
  ],
  [
    "the rate followed the users, to {up#} times with {more#}: nothing held it with {same#}",
    "速率随用户数变化，{more} 个用户时为 {up} 倍：{same} 个用户时没有什么限制着它",
  ],
  // reasons.rs of a server that was not watched, and why it was not: lab's trial.rs
  ["the server's CPU, memory, threads and sockets: {why:}", "服务器的 CPU、内存、线程和套接字：{why}"],
  [
    "what held the server back shows in its CPU, threads and sockets, and they were not measured: {why:}",
    "限制服务器的因素体现在它的 CPU、线程和套接字上，而这些没有测量：{why}",
  ],
  ["it was running already, at {url}", "它已在运行，位于 {url}"],
  [
    "{law:}: {answers#} answers of the idle server differ too much to tell how many had their turn at a time",
    "{law}：空闲服务器的 {answers} 个应答相差太大，无法判断每次处理多少个",
  ],
  ["what the server and the machine did: the record is of a version that took no signals", "服务器和机器的状况：记录来自不采集信号的版本"],
  [
    "{law:}: how long the server worked for the {share} % of requests that failed is not known, and so not how many had their turn at a time",
    "{law}：服务器为失败的 {share} % 请求工作了多久不得而知，因而也不知道每次处理多少个",
  ],
  ["neither the load, nor a pool of threads, nor CPU accounts for the rate", "负载、线程池和 CPU 都不能解释这个速率"],
  ["unexplained", "未能解释"],
];

const AUDIT: Pair[] = [
  // audit.rs
  ["empty", "无数据"],
  ["interrupted", "被中断"],
  ["incorrect service", "服务不正确"],
  ["unsent requests", "有请求未发出"],
  ["censored", "有删失"],
  ["Little's law broken", "违反利特尔法则"],
  ["too short", "时间太短"],
  ["ramp not over", "爬坡未完"],
  ["late generator", "发生器发送偏晚"],
  ["late receiver", "发生器接收偏晚"],
  ["lost agent", "代理失联"],
  ["throttled", "被 CPU 配额限制"],
  ["skewed clocks", "时钟不一致"],
  ["compiling", "仍在编译"],
  ["not steady", "不稳定"],
  ["two levels", "两个水平"],
  ["{failed} of {all} trials failed", "{all} 次试验中有 {failed} 次失败"],
  [
    "{share} % of the {ceiling}/s that the client reached of the calibration target: near its own limit a rate is the client's as much as the server's; give the client cores of its own",
    "达到客户端对校准目标 {ceiling}/s 的 {share} %：接近客户端自身极限时，速率既是服务器的也是客户端的；请给客户端专用的核心",
  ],
  [
    "the JVM's compilers were busy for {compilers} s a second, and client and servers used {used} cores, which is all there was: once they are done, answers have them, and faster code; allow more bursts, or a longer warm-up",
    "JVM 的编译器每秒忙 {compilers} 秒，而客户端与服务器用掉了全部可用的核心（{used} 个）：编译完成后应答可以使用它们，代码也更快；请允许更多或更长的预热",
  ],
  [
    "the JVM's compilers were busy for {compilers} s a second, and the servers used {used} cores, which is all there was: once they are done, answers have them, and faster code; allow more bursts, or a longer warm-up",
    "JVM 的编译器每秒忙 {compilers} 秒，而服务器用掉了其全部核心（{used} 个）：编译完成后应答可以使用它们，代码也更快；请允许更多或更长的预热",
  ],
  [
    "the JVM's compilers were busy for {compilers} s a second in the last burst of the warm-up, and nobody looked later: once they are done, answers have them, and faster code; allow more bursts, or a longer warm-up",
    "预热的最后一轮中 JVM 的编译器每秒忙 {compilers} 秒，此后未再观察：编译完成后应答可以使用它们，代码也更快；请允许更多或更长的预热",
  ],
  ["after {bursts} bursts: {why:}; allow more bursts, or longer ones", "经过 {bursts} 轮预热：{why}；请允许更多或更长的预热"],
  [
    "the JVM's compilers were still busy for {compilers} s a second after {loads} more loads; allow more bursts, or longer ones",
    "又经过 {loads} 次负载之后，JVM 的编译器仍每秒占用 {compilers} s；请允许更多或更长的预热",
  ],
  [
    "after {bursts} bursts: {why:}; allow more bursts, or longer ones; {loads} more loads came before this one, and whether compilers were done by then nobody looked",
    "经过 {bursts} 轮预热：{why}；请允许更多或更长的预热；此前又有 {loads} 次负载，那时编译器是否已完成工作，没有查看",
  ],
  [
    "{first} in the first third of the window and {last} in the last, after {loads} more loads; allow more bursts, or longer ones",
    "又经过 {loads} 次负载之后，窗口的前三分之一为 {first}，最后三分之一为 {last}；请允许更多或更长的预热",
  ],
  ["no reason was recorded", "没有记录原因"],
  ["no request was due within the window; measure longer", "窗口内没有应发的请求；请测得更久"],
  ["no request was due within the window: it was ended before; run it again to its end", "窗口内没有应发的请求：测试在此之前就被结束了；请重新运行到结束"],
  [
    "no request was due within the window: as many as were asked for were made in the warm-up; ask for more, or leave the warm-up out",
    "窗口内没有应发的请求：所要求的数量在预热中就已发完；请要求更多，或去掉预热",
  ],
  ["{s} s, and at this rate {what} is due each {turn} s; measure longer", "{s} s，而按此速率每 {turn} s 才应发一次（{what}）；请测得更久"],
  [
    "it was ended after {s} s of its window, and the figures are of that part alone; for those of the whole, run it again to its end",
    "在窗口的第 {s} 秒被中断，数字只属于这一部分；要得到整个窗口的数字，请重新运行到结束",
  ],
  ["it was ended before its time; run it again to its end", "被提前中断；请重新运行到结束"],
  [
    "{share} % of {all} requests brought no good answer: {kinds:}; mend the request or the service, or load it less",
    "{all} 个请求中有 {share} % 没有得到正确应答：{kinds}；请修正请求或服务，或减小负载",
  ],
  [
    "{failed} of {all} requests ({share} %) found no port to connect from (EADDRNOTAVAIL); keep connections, or widen net.ipv4.ip_local_port_range",
    "{all} 个请求中有 {failed} 个（{share} %）找不到可用的本地端口（EADDRNOTAVAIL）；请保持连接，或放宽 net.ipv4.ip_local_port_range",
  ],
  [
    "{failed} of {all} requests ({share} %) found the client without a file descriptor to connect with (EMFILE); raise the client's limit of open files (ulimit -n)",
    "{all} 个请求中有 {failed} 个（{share} %）遇到客户端没有可用于连接的文件描述符（EMFILE）；请提高客户端打开文件的上限（ulimit -n）",
  ],
  [
    "{unsent} of {all} requests that were due ({share} %) found no connection until the deadline; lower the rate, or give it more connections",
    "{all} 个应发请求中有 {unsent} 个（{share} %）到截止时仍没有可用连接；请降低速率，或给它更多连接",
  ],
  [
    "{unsent} of {all} requests that were due ({share} %) found no connection until the deadline; load it with fewer users",
    "{all} 个应发请求中有 {unsent} 个（{share} %）到截止时仍没有可用连接；请减少用户数",
  ],
  [
    "{dropped} of {all} requests that were due ({share} %) were dropped, since as many as may wait for a connection were waiting; lower the rate, or give it more connections",
    "{all} 个应发请求中有 {dropped} 个（{share} %）被丢弃，因为等待连接的请求已达上限；请降低速率，或给它更多连接",
  ],
  [
    "{unsent} of {all} requests that were due ({share} %) found no connection until the deadline; {dropped} of {same} requests that were due ({part} %) were dropped, since as many as may wait for a connection were waiting; lower the rate, or give it more connections",
    "{all} 个应发请求中有 {unsent} 个（{share} %）到截止时仍没有可用连接；{same} 个应发请求中有 {dropped} 个（{part} %）被丢弃，因为等待连接的请求已达上限；请降低速率，或给它更多连接",
  ],
  [
    "{censored} of {all} requests ended without an answer, so response times from {first} up are lower bounds; mend what keeps answers away, load it less, or wait longer for them",
    "{all} 个请求中有 {censored} 个没有应答而结束，因此 {first} 及以上的响应时间只是下界；请消除使应答缺失的原因、减小负载，或等待更久",
  ],
  [
    "{censored} of {all} requests ended without an answer, so response times from {first} up are lower bounds; the rate is of what was done in the window: {done} good answers, of which at most {due} had been due in it; mend what keeps answers away, load it less, or wait longer for them",
    "{all} 个请求中有 {censored} 个没有应答而结束，因此 {first} 及以上的响应时间只是下界；速率说的是窗口内完成的请求：{done} 个正确应答，其中至多 {due} 个是在窗口内应发的；请消除使应答缺失的原因、减小负载，或等待更久",
  ],
  ["{users} users, but {rate}/s × {s} s = {product}: {why:}", "{users} 个用户，但 {rate}/s × {s} s = {product}：{why}"],
  ["the latency is not that of these requests; the rate stands, and for the times measure longer", "延迟不是这些请求的延迟；速率仍然可信，要得到可信的时间，请测得更久"],
  [
    "the others waited: for requests that were not done within the window, or to connect again; measure longer, or let connections be kept",
    "其余的在等待：等待未在窗口内完成的请求，或等待重新连接；请测得更久，或保持连接",
  ],
  [
    "the others were busy in {driver} itself, or with requests that it does not tell of; give {same} more cores, or make the load with Proofload",
    "其余的忙于 {driver} 自身，或忙于它没有报告的请求；请给 {same} 更多核心，或改用 Proofload 施加负载",
  ],
  [
    "the latency that {driver} tells is not that of these requests; the rate stands, and for the times make the load with Proofload",
    "{driver} 所报告的延迟不是这些请求的延迟；速率仍然可信，要得到可信的时间，请改用 Proofload 施加负载",
  ],
  ["{s} s are fewer than {times} response times of {mean} s; measure longer", "{s} s 少于 {times} 个响应时间（{mean} s）；请测得更久"],
  [
    "it ended after {ended} s, and the last user would have started after {last} s; measure longer, or shorten the ramp-up",
    "在 {ended} s 后结束，而最后一个用户应在 {last} s 后开始；请测得更久，或缩短爬坡",
  ],
  [
    "a load thread was busy {share} % of the time: the rate may be the generator's limit and not the server's; try more --threads on free cores",
    "一个负载线程忙了 {share} % 的时间：速率可能是发生器的极限而不是服务器的；请在空闲核心上使用更多 --threads",
  ],
  [
    "{driver} was busy {share} % of what its load threads or its {cores} cores give, and used {used} cores: the rate may be its limit and not the server's; give it more cores and threads for them, or make the load with Proofload",
    "{driver} 占用了其负载线程或 {cores} 个核心的 {share} %，用掉 {used} 个核心：速率可能是它的极限而不是服务器的；请给它更多核心和相应的线程，或改用 Proofload 施加负载",
  ],
  [
    "one request in a hundred went out more than {lag} late by the generator's own fault; load less, or give it free cores and threads for them",
    "百分之一的请求因发生器自身的原因晚发 {lag} 以上；请减小负载，或给它空闲的核心和相应的线程",
  ],
  [
    "answers lay in the generator's own socket for {lag} at {name}, of a service time of {service} there; the times are the generator's as much as the server's: load less, or give it more cores",
    "在 {name} 处，应答在发生器自己的套接字里停留了 {lag}，而此处服务时间为 {service}；这些时间既是服务器的也是发生器的：请减小负载，或给它更多核心",
  ],
  [
    "{before} in the first {at} s of the window and {after} in the rest; warm up for longer, or measure each level by itself",
    "窗口的前 {at} s 为 {before}，其余为 {after}；请预热更久，或分别测量每个水平",
  ],
  // Of earlier versions.
  ["{unsent} of {all} requests that were due ({share} %) found no connection until the deadline", "{all} 个应发请求中有 {unsent} 个（{share} %）到截止时仍没有可用连接"],
  [
    "{censored} of {all} requests ended without an answer, so response times from {first} up are lower bounds",
    "{all} 个请求中有 {censored} 个没有应答而结束，因此 {first} 及以上的响应时间只是下界",
  ],
  ["the latency is not that of these requests", "延迟不是这些请求的延迟"],
  ["one request in a hundred went out more than {lag} late by the generator's own fault", "百分之一的请求因发生器自身的原因晚发 {lag} 以上"],
  // agents.rs: each machine that is named, and what to do
  ["and {more#} more", "以及另外 {more} 个"],
  ["agent {number#} of {all#} ({name}) was last heard of at {s#} s, and {requests#} requests with it: it {why}", "代理 {number}/{all}（{name}）在第 {s} s 后失联，涉及 {requests} 个请求（{why}）"],
  [
    "{agents;}: whether those were sent is not known; percentiles are bounds; look at the machine and the way to it, and run it again",
    "{agents}：不知道这些请求是否已发出；百分位只是界限；请检查该机器和到它的网络，然后重新运行",
  ],
  ["agent {number#} of {all#} ({name}) ended its load by itself after {s#} s", "代理 {number}/{all}（{name}）在 {s} s 后自行结束了负载"],
  [
    "{agents;}: an agent does so that does not hear of whoever conducts it for 30 s; what was due later was not sent; keep whoever conducts it running and in reach, and run it again",
    "{agents}：代理 30 s 没有收到指挥方的消息就会如此；之后应发的请求没有发出；请让指挥方保持运行且可达，然后重新运行",
  ],
  ["agent {number#} of {all#} ({name}) had a load thread busy {share#} % of the time", "代理 {number}/{all}（{name}）有一个负载线程忙了 {share} % 的时间"],
  [
    "{agents;}: the rate may be its limit and not the server's; take more machines, or more --threads on free cores",
    "{agents}：速率可能是它的极限而不是服务器的；请用更多机器，或在空闲核心上使用更多 --threads",
  ],
  ["agent {number#} of {all#} ({name}) was kept from running for {s#} s by a CPU quota", "代理 {number}/{all}（{name}）因 CPU 配额有 {s} s 不得运行"],
  ["{agents;}: its requests were late by it; give it whole cores", "{agents}：其请求因此晚发；请给它完整的核心"],
  ["agent {number#} of {all#} ({name}) sent one request in a hundred more than {lag} late", "代理 {number}/{all}（{name}）有百分之一的请求晚发 {lag} 以上"],
  ["{agents;}: by its own fault; load it less", "{agents}：原因在它自身；请减小它的负载"],
  ["agent {number#} of {all#} ({name}) began {ms#} ms late", "代理 {number}/{all}（{name}）晚开始 {ms} ms"],
  ["{agents;}: what was due before was sent in a burst; add a --warm-up", "{agents}：之前应发的请求被一次发出；请加上 --warm-up"],
  ["agent {number#} of {all#} ({name}) has a clock that jumped", "代理 {number}/{all}（{name}）的时钟发生了跳变"],
  [
    "{agents;}: it slept, or was moved to another host; counts are exact, and the gaps between requests of several machines are not; keep it awake and where it is, and run it again",
    "{agents}：它休眠过，或被迁移到另一台主机；计数是准确的，多台机器的请求间隔则不然；请让它保持唤醒且不迁移，然后重新运行",
  ],
  ["agent {number#} of {all#} ({name}) has a clock that is known within {ms#} ms only", "代理 {number}/{all}（{name}）的时钟只精确到 {ms} ms"],
  [
    "{agents;}: counts are exact, and the gaps between requests of several machines are not; try --poisson",
    "{agents}：计数是准确的，多台机器的请求间隔则不然；请试用 --poisson",
  ],
  // lab's warm_up.rs
  ["too few bursts", "预热轮数太少"],
  ["nothing was answered as expected", "没有任何符合预期的应答"],
  ["the last two bursts are {share} % apart", "最后两轮相差 {share} %"],
  ["the rate drifts by {share} % a burst", "速率每轮漂移 {share} %"],
  ["the JVM's compilers are busy for {share} % of a core", "JVM 的编译器占用了一个核心的 {share} %"],
  // what signals could not read
  ["CPU quotas: the control groups of the server", "CPU 配额：服务器的控制组"],
  ["the load threads: agents have them", "负载线程：在各代理上"],
  ["other processes: the agents are among them", "其他进程：代理也在其中"],
  ["accept queues and sockets: socket diagnosis ({why})", "接受队列与套接字：内核套接字诊断（{why}）"],
  ["anything after the first {count} readings", "前 {count} 次读数之后的一切"],
  ["the network's counts: /proc/net/netstat", "网络计数：/proc/net/netstat"],
  ["bytes written to disks: /proc/PID/io (not permitted)", "写入磁盘的字节：/proc/PID/io（无权限）"],
  ["CPU time of the machine: /proc/stat", "机器的 CPU 时间：/proc/stat"],
  ["pressure: /proc/pressure (the kernel was built or started without it)", "压力：/proc/pressure（内核构建或启动时未启用）"],
  // stacks' work
  ["status", "状态码"],
  ["body", "正文"],
  ["body framing", "正文分帧方式"],
  ["framing", "分帧方式"],
  ["bytes on the wire", "线上字节数"],
  ["connection", "连接"],
  ["requests a connection", "每个连接的请求数"],
  ["field {name}", "字段 {name}"],
  ["more than {count}", "多于 {count}"],
  ["absent", "没有"],
  ["present", "有"],
  ["kept", "保持"],
  ["closed", "按声明关闭"],
  ["closed unsaid", "未声明即关闭"],
  ["reset unsaid", "未声明即重置"],
];

/** What a table to choose by says of rows: choice.rs and rows.rs of the crate `report`. */
const FAILURES: Pair[] = [
  ["timed out", "超时"],
  ["connect failed", "连接失败"],
  ["tls failed", "TLS 失败"],
  ["reset", "被重置"],
  ["closed early", "过早关闭"],
  ["malformed", "格式错误"],
  ["refused stream", "流被拒绝"],
  ["stream reset", "流被重置"],
  ["gone away", "未处理即断开"],
  ["unsent", "未发出"],
  ["backlog overflow", "队列溢出"],
  ["lost", "丢失"],
  ["in flight", "仍在途"],
  ["unexpected", "不符预期"],
];
const CHOICES: Pair[] = [
  ["errors: {kinds:}", "错误：{kinds}"],
  ...FAILURES.map(([english, chinese]): Pair => [`${english} {share} %`, `${chinese} {share} %`]),
  ["no good answer in {failed#} of {all#} trials", "{all} 次试验中有 {failed} 次没有正确应答"],
  ["over 1 % unanswered in {failed#} of {all#} trials", "{all} 次试验中有 {failed} 次超过 1 % 没有应答"],
];

const CAPACITY: Pair[] = [
  // capacity.rs
  ["not used: {why:}", "未采用：{why}"],
  ["{failed} of {all} trials at {load:} failed", "{load}：{all} 次试验中有 {failed} 次失败"],
  ["{count} of {all} trials at {load:}: {what:}", "{load}：{all} 次试验中有 {count} 次：{what}"],
  [
    "the levels' means are off the curve by {misfit} %, which is more than chance makes of trials that differ by {noise} % within a level and block",
    "各级均值偏离曲线 {misfit} %；同级、同一区组内的试验相差 {noise} %，出于偶然不会偏离这么多",
  ],
  [
    "at {users} connections, the fewest, one already got {share} % of what one alone would: λ is a guess; measure fewer connections as well",
    "在最少的 {users} 个连接下，每个连接只得到单独时的 {share} %：λ 只是猜测；请也测更少的连接",
  ],
  ["the peak lies far beyond {users} connections, the most that were measured", "峰值远在所测的最多连接数 {users} 之外"],
  [
    "at {users} requests at a time, the fewest, one already got {share} % of what one alone would: λ is a guess; measure fewer requests at a time as well",
    "在最少的 {users} 个并发请求下，每个请求只得到单独时的 {share} %：λ 只是猜测；请也测更少的并发请求",
  ],
  ["the peak lies far beyond {users} requests at a time, the most that were measured", "峰值远在所测的最多并发请求数 {users} 之外"],
  ["a single block has no spread, so nothing here has an interval", "只有一个区组，没有离散程度，因此这里都没有区间"],
];

const CLAIMS: Pair[] = [
  // claims.rs and claims/cell.rs
  ["the level grows with the cores: {there} there, {here} here", "水平随核心数增长：原文 {there} 个，这里 {here} 个"],
  ["the level grows with the cores, and this machine's are not known", "水平随核心数增长，而这台机器的核心数未知"],
  ["the two were never measured in one block", "两者从未在同一区组中测量"],
  ["one block supports no claim", "一个区组不能支持任何论断"],
  ["{blocks} blocks are too few, it takes {needed}", "{blocks} 个区组太少，需要 {needed} 个"],
  ["{blocks} blocks are too few for {parts} comparisons, it takes {needed}", "对 {parts} 个比较而言 {blocks} 个区组太少，需要 {needed} 个"],
  ["the difference may be chance", "差异可能出于偶然"],
  ["nearer than {share} %", "相差不到 {share} %"],
  ["nearer than {share} %, as a stack and its twin are apart", "相差不到 {share} %，与同一栈及其孪生之差相当"],
  ["nearer than {share} %, as a stack and its twin were, though they may be nearer", "相差不到 {share} %，同一栈及其孪生曾相差这么多，但二者实际可能更接近"],
  ["it is the other way round", "情况正相反"],
  ["it holds; {bound:}", "成立；{bound}"],
  ["it is the other way round; {bound:}", "情况正相反；{bound}"],
  ["the direction holds; {bound:}", "方向成立；{bound}"],
  ["{bound:}, which leaves it open", "{bound}，因而无法判定"],
  ["the client was the limit of the first, so that the ratio is a lower bound", "前者受限于客户端，因此比值只是下界"],
  ["the client was the limit of the second, so that the ratio is an upper bound", "后者受限于客户端，因此比值只是上界"],
  ["for a part of the times of {which:} the client was late, so that the ratio is a lower bound", "{which}的一部分时间里客户端偏晚，因此比值只是下界"],
  ["for a part of the times of {which:} the client was late, so that the ratio is an upper bound", "{which}的一部分时间里客户端偏晚，因此比值只是上界"],
  ["for a part of the times of {which:} the client was late, and bounds don't decide it", "{which}的一部分时间里客户端偏晚，而界限不足以判定"],
  ["the client was the limit of {which:}, and bounds don't decide it", "{which}受限于客户端，而界限不足以判定"],
  ["compilers were at work beside {which:}, so that the ratio is a lower bound", "{which}旁仍有编译器在工作，因此比值只是下界"],
  ["compilers were at work beside {which:}, so that the ratio is an upper bound", "{which}旁仍有编译器在工作，因此比值只是上界"],
  ["compilers were at work beside {which:}, and bounds don't decide it", "{which}旁仍有编译器在工作，而界限不足以判定"],
  ["the client or compilers were the limit of {which:}, and bounds don't decide it", "{which}受限于客户端或编译器，而界限不足以判定"],
  ["{by:}, and bounds don't decide it", "{by}，而界限不足以判定"],
  ["{by:}, so that the ratio is a lower bound", "{by}，因此比值只是下界"],
  ["{by:}, so that the ratio is an upper bound", "{by}，因此比值只是上界"],
  ["{by:}, so that of the ratio only two bounds are known", "{by}，因此只知道比值的上下界"],
  ["{by:}, so that the figure is a lower bound", "{by}，因此该数字只是下界"],
  ["{by:}, so that the figure is an upper bound", "{by}，因此该数字只是上界"],
  ["{by:}, so that of the figure only two bounds are known", "{by}，因此只知道该数字的上下界"],
  ["in some trials {by:}", "在部分试验中{by}"],
  ["the client was the limit of {which:}", "{which}受限于客户端"],
  ["compilers were at work beside {which:}", "{which}旁仍有编译器在工作"],
  ["the client or compilers were the limit of {which:}", "{which}受限于客户端或编译器"],
  ["for a part of the times of {which:} the client was late", "{which}的一部分时间里客户端偏晚"],
  ["{decided:}; {by:}, so that the ratio is a lower bound", "{decided}；{by}，因此比值只是下界"],
  ["{decided:}; {by:}, so that the ratio is an upper bound", "{decided}；{by}，因此比值只是上界"],
  ["{decided:}; {by:}, so that of the ratio only two bounds are known", "{decided}；{by}，因此只知道比值的上下界"],
  ["{decided:}; {by:}, so that the figure is a lower bound", "{decided}；{by}，因此该数字只是下界"],
  ["{decided:}; {by:}, so that the figure is an upper bound", "{decided}；{by}，因此该数字只是上界"],
  ["{decided:}; {by:}, so that of the figure only two bounds are known", "{decided}；{by}，因此只知道该数字的上下界"],
  ["the first", "前者"],
  ["the second", "后者"],
  ["both", "两者"],
  ["it", "它"],
  ["{blocks} blocks do not decide it; it goes on to {last}", "{blocks} 个区组不足以判定；将继续到 {last} 个"],
  ["{blocks} blocks show no difference that could not be chance", "{blocks} 个区组没有显示出不可能出于偶然的差异"],
  ["the two are surely nearer than {share} %", "两者之差确定小于 {share} %"],
  ["the figure could not be seen", "看不到该数字"],
  ["{count} of {all} trials of {cell:} only a bound: {why:}", "{cell}：{all} 次试验中有 {count} 次只知道界限：{why}"],
  [
    "{count} of {all} trials of {cell:} failed or have no figure, and what the others show is not the whole",
    "{cell}：{all} 次试验中有 {count} 次失败或没有数字，其余的并不能代表全部",
  ],
  ["the size agrees", "幅度相符"],
  ["the direction holds, and it is surely more than claimed", "方向成立，且幅度确定大于所称"],
  ["the direction holds, and it is surely less than claimed", "方向成立，且幅度确定小于所称"],
  ["the direction holds, and the interval is too wide for the size", "方向成立，但区间太宽，无法判定幅度"],
  ["{why:}; the size is surely not the claimed one", "{why}；幅度确定不是所称的"],
  ["nothing was measured of it", "对此没有任何测量"],
  // claims/settings.rs
  ["cores: there {there}, here {here}", "核心数：原文 {there} 个，这里 {here} 个"],
  ["JDK: there {there}, here {here}", "JDK：原文 {there}，这里 {here}"],
  ["{what:} of {stacks}: there {there:}, here {here:}", "{stacks} 的{what}：原文为{there}，这里为{here}"],
  // What write-ups set otherwise: published/*.toml
  ["collector", "垃圾收集器"],
  ["worker threads", "工作线程数"],
  ["event loops", "事件循环数"],
  ["system", "操作系统"],
  ["requests a user, and ramp-up", "每个用户的请求数与爬坡时间"],
  ["Parallel, JDK 8's own choice", " Parallel（JDK 8 的默认选择）"],
  ["G1, that of later ones where there are two cores", " G1（有两个核心时后来版本的默认选择）"],
  ["Windows 10", " Windows 10"],
  ["Linux, which resets a connection that is closed with its request unread", " Linux（关闭连接时若请求未读，会发送重置）"],
  ["{n#} in {s#} s", " {n} 个，{s} s 内"],
  ["{n#}", " {n}"],
  // Of earlier versions.
  ["of most of its trials only a bound is known", "其多数试验只知道界限"],
  ["the direction holds, the size differs", "方向成立，幅度不同"],
  ["it holds", "成立"],
  ["surely within {share} %", "确定在 {share} % 之内"],
  ["surely further off than {share} %", "确定超出 {share} %"],
  ["it may be within {share} % and may not", "可能在 {share} % 之内，也可能不在"],
  ["it has no part", "没有可比较的部分"],
  ["in {count} of {all} comparisons: {why:}", "{all} 个比较中有 {count} 个：{why}"],
  ["in {count} of {all} comparisons, the first: {what:}, {why:}", "{all} 个比较中有 {count} 个，第一个是 {what}：{why}"],
  [
    "in {count} of {all} comparisons, the first: {cells}, {n#} connections, {why:}",
    "{all} 个比较中有 {count} 个，第一个是 {cells}，{n} 个连接：{why}",
  ],
  [
    "in {count} of {all} comparisons, the first: {stack}, {a#} / {b#} connections, {why:}",
    "{all} 个比较中有 {count} 个，第一个是 {stack}，{a} / {b} 个连接：{why}",
  ],
  ["{why:}; it points the same way", "{why}；方向一致"],
  ["{why:}; it points the other way", "{why}；方向相反"],
  ["{why:}; {same} of {all} measured comparisons point the same way", "{why}；{all} 个已测比较中有 {same} 个方向一致"],
  ["no usable trial of {cell:}: {why:}", "{cell} 没有可用的试验：{why}"],
  ["{stack} was left out: {why}", "{stack} 未参加：{why}"],
  ["every trial of {cell:} failed", "{cell} 的试验全部失败"],
  ["the run has no trial of {cell:}", "本次运行没有 {cell} 的试验"],
  ["{count} of {all} trials of {cell:} failed", "{cell}：{all} 次试验中有 {count} 次失败"],
  ["{count} of {all} trials of {cell:} not used: {why:}", "{cell}：{all} 次试验中有 {count} 次未采用：{why}"],
  ["{count} of {all} trials of {cell:}: {why:}", "{cell}：{all} 次试验中有 {count} 次：{why}"],
  ["the figure is only a lower bound", "该数字只是下界"],
  ["no figure above 0", "没有大于 0 的数字"],
  ["so few requests do not know it", "请求太少，得不出该数字"],
];

/** Of a run as a whole, by the crate `report`. */
const RUN: Pair[] = [
  // physical.rs of the crate `stack`: the cores of each side
  ["servers on {servers} ({those:}), client on {client} ({others:})", "服务器用 {servers}（{those}），客户端用 {client}（{others}）"],
  ["the fastest kind", "最快的一种"],
  ["the slowest kind", "最慢的一种"],
  ["kind {n#} of {all#} from the slowest on", "从最慢算起第 {n} 种，共 {all} 种"],
  ["{n#} kinds", "{n} 种"],
  ["node {n#}", "节点 {n}"],
  ["nodes {all}", "节点 {all}"],
  // agents.rs
  ["The loads came from 1 agent: {name}.", "负载来自 1 个代理：{name}。"],
  ["The loads came from {count#} agents: {names}.", "负载来自 {count} 个代理：{names}。"],
  ["The loads came from {count#} agents: {names} and {more#} more.", "负载来自 {count} 个代理：{names}，以及另外 {more} 个。"],
  ["The loads came from 1 agent, on other machines than the servers: {name}.", "负载来自 1 个代理，与服务器不在同一台机器上：{name}。"],
  ["The loads came from {count#} agents, on other machines than the servers: {names}.", "负载来自 {count} 个代理，与服务器不在同一台机器上：{names}。"],
  [
    "The loads came from {count#} agents, on other machines than the servers: {names} and {more#} more.",
    "负载来自 {count} 个代理，与服务器不在同一台机器上：{names}，以及另外 {more} 个。",
  ],
];

/** Rates that are asked for: load_id.rs of the crate `plan`. */
const RATES: Pair[] = ["s", "m", "h"].flatMap((unit): Pair[] => [
  [`{rate#}/${unit} on {n#}`, `{rate}/${unit}，{n} 个连接`],
  [`{rate#}/${unit} (Poisson) on {n#}`, `{rate}/${unit}（泊松），{n} 个连接`],
  [`{rate#}/${unit} (bursts of {size#}) on {n#}`, `{rate}/${unit}（每次突发 {size} 个），{n} 个连接`],
]);
/** What is told of users, in this order, each or not. */
const HABITS: Pair[] = [
  [", ramp-up {span}", "，爬坡 {span}"],
  [", {each#} requests each", "，每人 {each} 个请求"],
  [", think {thought}", "，思考 {thought}"],
];
const USERS: Pair[] = HABITS.reduce<Pair[]>(
  (all, [english, chinese]) => [...all, ...all.map((it): Pair => [it[0] + english, it[1] + chinese])],
  [["{n#} connections", "{n} 个连接"], ["{n#} users", "{n} 个用户"]],
);
const KEPT: Pair[] = [...RATES, ...USERS];
const ANY_LOAD: Pair[] = [...KEPT, ...KEPT.map(([english, chinese]): Pair => [`${english}, fresh`, `${chinese}，每次新建`])];

/** Loads in words, and cells by them. They come last: `{stack}, …` would fit much. */
const LOADS: Pair[] = [
  ...ANY_LOAD,
  ...ANY_LOAD.map(([english, chinese]): Pair => [`{stack}, ${english}`, `{stack}，${chinese}`]),
  ["{stack}, {a#} / {b#} connections", "{stack}，{a} / {b} 个连接"],
  ["{a} / {b}, {n#} connections", "{a} / {b}，{n} 个连接"],
];

const ALL: Pair[] = [...VERDICTS, ...AUDIT, ...CHOICES, ...CAPACITY, ...CLAIMS, ...RUN, ...LOADS];

/** What a place holds: text as it came, a sentence, or several that semicolons join. */
type Kind = "text" | "sentence" | "sentences";

interface Pattern {
  matches: RegExp;
  /** Names of the groups, and what each holds. */
  parts: { name: string; kind: Kind }[];
  chinese: string;
}

const PLACE = /\{(\w+)([:;#]?)\}/g;
/** What a place matches, and one for a number. */
const [ANYTHING, NUMBER] = ["(.+?)", "([\\d.]+[kM]?)"];
const KINDS: Record<string, Kind> = { ":": "sentence", ";": "sentences" };

function compile([english, chinese]: Pair): Pattern {
  const parts: Pattern["parts"] = [];
  let source = "";
  let from = 0;
  for (const match of english.matchAll(PLACE)) {
    source += escape(english.slice(from, match.index));
    source += match[2] === "#" ? NUMBER : ANYTHING;
    parts.push({ name: match[1] ?? "", kind: KINDS[match[2] ?? ""] ?? "text" });
    from = match.index + match[0].length;
  }
  return { matches: new RegExp(`^${source}${escape(english.slice(from))}$`, "s"), parts, chinese };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Sentences without a place are looked up; there are too many for trying each. */
const fixed = new Map<string, string>();
const patterns: Pattern[] = [];
for (const pair of ALL) {
  if (pair[0].includes("{")) patterns.push(compile(pair));
  else fixed.set(...pair);
}
/** The most literal text first: it is the one that is meant where several fit. */
patterns.sort((a, b) => literal(b) - literal(a));

function literal(pattern: Pattern): number {
  return pattern.matches.source.replaceAll(ANYTHING, "").replaceAll(NUMBER, "#").length;
}

/** Sentences may hold sentences, but none of this list does so deeper. */
const DEPTH_MAX = 4;
/** Nothing that is said is longer; what is takes its time with hundreds of patterns, and stays as it is. */
const LENGTH_MAX = 4000;

/** What was found, since runs say the same of many cells. */
const found = new Map<string, string | undefined>();

/** What `english` is in Chinese; `undefined` where no pattern fits. */
export function chinese(english: string): string | undefined {
  if (english.length > LENGTH_MAX) return undefined;
  if (!found.has(english)) found.set(english, translated(english, 0) ?? together(english));
  return found.get(english);
}

/** Two sentences that a comma joins, if both are known. */
function together(english: string): string | undefined {
  const all = items(english, ", ").map((it) => translated(it, 0));
  return all.every((it) => it !== undefined) ? all.join("，") : undefined;
}

/** What stands between separators, but for those within parentheses. */
function items(text: string, separator: string): string[] {
  const all: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0 && text.startsWith(separator, at)) {
      all.push(text.slice(from, at));
      from = at + separator.length;
      at = from - 1;
    }
  }
  return [...all, text.slice(from)];
}

function translated(english: string, depth: number): string | undefined {
  const known = fixed.get(english);
  if (known !== undefined || depth > DEPTH_MAX) return known;
  for (const pattern of patterns) {
    const match = pattern.matches.exec(english);
    if (!match) continue;
    const values = new Map<string, string>();
    for (const [index, { name, kind }] of pattern.parts.entries()) values.set(name, inChinese(match[index + 1] ?? "", kind, depth + 1));
    return pattern.chinese.replace(PLACE, (whole, name: string) => values.get(name) ?? whole);
  }
  return undefined;
}

/** How a load begins: behind a comma it is the second half of a cell, and no sentence of several. */
const LOAD = /^[\d.]+[kM]?(\/[smh]| connections| users)/;

/** What a place holds; what has no pattern stays. */
function inChinese(text: string, kind: Kind, depth: number): string {
  if (kind === "text") return text;
  if (kind === "sentences") return items(text, "; ").map((it) => translated(it, depth) ?? it).join("；");
  const parts = items(text, ", ");
  const each = parts.map((it) => translated(it, depth));
  // Several that are each known, before a pattern whose place would take them for one.
  const isList = each.length > 1 && each.every((it) => it !== undefined) && !parts.some((it) => LOAD.test(it));
  const whole = isList ? undefined : translated(text, depth);
  return whole ?? each.map((it, index) => it ?? parts[index]).join("、");
}

/** Every English pattern, for tests. */
export const ENGLISH: readonly string[] = ALL.map((it) => it[0]);
