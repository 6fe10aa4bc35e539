/** Every text of the page, in every language it speaks. What comes from a record is in `sentences.ts` or stays as it is. */

import { given, h } from "./dom.ts";
import { chinese } from "./sentences.ts";

export type Lang = "en" | "zh";
export const LANGS: readonly Lang[] = ["en", "zh"];

const STRINGS = {
  // The page
  lang_name: { en: "English", zh: "中文" },
  lang_label: { en: "Language", zh: "语言" },
  theme_label: { en: "Colours", zh: "配色" },
  theme_auto: { en: "as the system", zh: "跟随系统" },
  theme_light: { en: "light", zh: "浅色" },
  theme_dark: { en: "dark", zh: "深色" },
  print: { en: "Print", zh: "打印" },
  contents: { en: "Contents", zh: "目录" },
  skip: { en: "To the answer", zh: "跳到结论" },
  settings: { en: "Settings of this page", zh: "本页设置" },
  no_document: { en: "There is no document in this page. Write a report with `proofload report DIR --format html`.", zh: "本页中没有文档。请用 `proofload report DIR --format html` 生成报告。" },
  bad_document: { en: "The document in this page can't be read: {why}", zh: "无法读取本页中的文档：{why}" },
  newer_document: { en: "This document is of version {version}, and this page knows {known}: something may be missing.", zh: "文档版本为 {version}，本页只认识 {known}：可能有内容缺失。" },
  section_failed: { en: "This part can't be shown: {why}", zh: "无法显示这一部分：{why}" },
  made_by: { en: "Measured by Proofload {measured}, page made by {made}. The page is one file, holds all its data, fetches nothing and sends nothing.", zh: "由 Proofload {measured} 测量，页面由 {made} 生成。整页只有一个文件，包含全部数据，不获取也不发送任何内容。" },
  run_line: { en: "{trials} trials, {started}", zh: "{trials} 次试验，{started}" },
  cores: { en: "{n} cores", zh: "{n} 个核心" },
  pace_full: { en: "full", zh: "完整" },
  pace_quick: { en: "a quick look: short loads and JVMs hardly warm; it shows a shape and supports no claim", zh: "快速浏览：负载短、JVM 几乎未预热；只看大概，不支持任何论断" },
  pace_coarse: { en: "a coarse look: short loads and JVMs hardly warm; what differs here may not when warm", zh: "粗略浏览：负载短、JVM 几乎未预热；此处的差异预热后可能消失" },
  placement_shared: { en: "client and servers shared all cores", zh: "客户端与服务器共用所有核心" },
  placement_split: { en: "client and servers had cores of their own", zh: "客户端与服务器各用自己的核心" },
  comma: { en: ", ", zh: "、" },
  and: { en: " and ", zh: " 和 " },
  colon: { en: ": ", zh: "：" },
  semicolon: { en: "; ", zh: "；" },
  limits: { en: " Limits: ", zh: "限制：" },
  stop: { en: ".", zh: "。" },
  // Sections
  s_answer: { en: "The answer", zh: "结论" },
  s_choose: { en: "To choose by", zh: "选型表" },
  s_ranking: { en: "Ranking", zh: "排名" },
  s_curves: { en: "Curves", zh: "曲线" },
  s_trial: { en: "One trial on one clock", zh: "一次试验的时间线" },
  s_why: { en: "Why it stopped there", zh: "为何止于此" },
  s_claims: { en: "Published against measured", zh: "已发表与实测" },
  s_work: { en: "Same work?", zh: "做的是同样的工作吗？" },
  s_again: { en: "Run it again", zh: "再测一次" },
  s_missing: { en: "What is missing", zh: "缺了什么" },
  // The answer
  kind_winner: { en: "by tests", zh: "经检验" },
  kind_tie: { en: "tie, by tests", zh: "并列，经检验" },
  kind_ahead: { en: "too few blocks to test", zh: "区组太少，未检验" },
  kind_overlap: { en: "ranges overlap, not tested", zh: "范围重叠，未检验" },
  kind_single: { en: "nothing to compare", zh: "无可比较" },
  kind_invalid: { en: "no valid winner", zh: "没有有效的优胜者" },
  kind_bounded: { en: "no winner: lower bounds", zh: "没有优胜者：只是下限" },
  kind_nothing: { en: "nothing measured", zh: "没有测量结果" },
  other_answers: { en: "The other tables", zh: "其他表格" },
  nothing_measured: { en: "Nothing was measured.", zh: "没有测量到任何结果。" },
  a_winner_rate: { en: "{best} carries {ahead} more than {next}", zh: "{best} 的有效速率比 {next} 高 {ahead}" },
  a_winner_rate_plain: { en: "{best} carries most", zh: "{best} 的有效速率最高" },
  a_winner_p99: { en: "{best}: p99 {ahead} below that of {next}", zh: "{best} 的 p99 响应时间比 {next} 低 {ahead}" },
  a_winner_p99_plain: { en: "{best} has the lowest p99", zh: "{best} 的 p99 响应时间最低" },
  a_interval: { en: " (95 % interval {low} to {high})", zh: "（95 % 区间 {low} 至 {high}）" },
  a_failing: { en: "{stack} failed in {failed} of {blocks} blocks. ", zh: "{stack} 在 {blocks} 个区组中有 {failed} 个失败。" },
  a_tie: { en: "{best} share the first place: the trials tell none of them from the first", zh: "{best} 并列第一：试验未能把其余各项与首位区分开" },
  a_tie_ahead: { en: "; {next} is behind by {ahead}", zh: "；{next} 落后 {ahead}" },
  a_ahead: { en: "{best} is ahead of {next} in all trials, too few to support a claim", zh: "{best} 在所有试验中都领先 {next}，但试验太少，不足以支持论断" },
  a_ahead_single: { en: "{best} is ahead in all trials, too few to support a claim", zh: "{best} 在所有试验中都领先，但试验太少，不足以支持论断" },
  a_overlap: { en: "No winner: the ranges of {best} overlap, and the blocks are too few to test", zh: "没有优胜者：{best} 的范围重叠，且区组太少，无法检验" },
  a_single: { en: "{best} was measured alone: there is nothing to compare it with", zh: "只测了 {best}：没有可比较的对象" },
  a_invalid: { en: "The data support no winner: the figures of {best}, in the first place, are not valid", zh: "数据不支持任何优胜者：排在首位的 {best} 的数字无效" },
  a_bounded: { en: "The data support no winner: {best} comes first, but of {bounded} the rate is only a lower bound: the client was at its own limit", zh: "数据不支持任何优胜者：{best} 排在首位，而 {bounded} 的实际速率至少为所测值，因为客户端已到自身上限" },
  a_invalid_plain: { en: "The data support no winner", zh: "数据不支持任何优胜者" },
  a_nothing: { en: "Nothing was measured here", zh: "这里没有测量到任何结果" },
  a_stopped: { en: "what stopped them", zh: "各自的限制" },
  stopped_by: { en: "What stopped each", zh: "各自的限制" },
  table_heading: { en: "{round}, {load}", zh: "{round}，{load}" },
  by_driver: { en: "by {driver}", zh: "由 {driver} 施压" },
  // To choose by
  c_p99_at: { en: "p99 at {share}", zh: "{share} 负载下的 p99" },
  c_memory_at: { en: "Memory at {share}", zh: "{share} 负载下的内存" },
  c_boot: { en: "Boot", zh: "启动" },
  choose_caption: { en: "p99 is the 99th percentile of response time where all are asked {rates} of what the slowest of them carries.", zh: "p99 是响应时间的第 99 百分位，各栈被要求的速率相同：最慢者所能承载的 {rates}。" },
  choose_tested: { en: "Rows that share a letter can't be told apart, by goodput or by that time; in parentheses are 95 % intervals.", zh: "共用一个字母的行在有效速率或该时间上分不出高下；括号内是 95 % 区间。" },
  choose_memory: { en: "Memory is the most that was resident, warm-up at full load included, without what stands behind the stack. Boot is from the start to the first right answer, the median of all boots.", zh: "内存是驻留内存的最大值，包括满载预热期间，不含该栈身后的服务。启动是从进程启动到第一个正确应答，取所有启动的中位数。" },
  // Ranking
  no_tables: { en: "There is no table: no trial was finished.", zh: "没有表格：没有完成的试验。" },
  no_rows: { en: "Nothing was measured here.", zh: "这里没有测量到任何结果。" },
  c_rank: { en: "#", zh: "#" },
  c_rank_long: { en: "Rank", zh: "名次" },
  c_stack: { en: "Stack", zh: "栈" },
  c_goodput: { en: "Goodput", zh: "有效速率" },
  c_range: { en: "Range", zh: "范围" },
  c_place_goodput: { en: "Goodput, range over trials", zh: "有效速率，各次试验的范围" },
  c_place_p99: { en: "p99, range over trials", zh: "p99，各次试验的范围" },
  c_place_tested: { en: "To the best, 95 % interval", zh: "与最佳之比，95 % 区间" },
  c_place_tested_p99: { en: "p99 to the best, 95 % interval", zh: "p99 与最佳之比，95 % 区间" },
  c_p50: { en: "p50", zh: "p50" },
  c_p99: { en: "p99", zh: "p99" },
  c_p99_9: { en: "p99.9", zh: "p99.9" },
  c_server: { en: "Server µs/req", zh: "服务器 µs/请求" },
  c_client: { en: "Client µs/req", zh: "客户端 µs/请求" },
  c_errors: { en: "Errors", zh: "错误" },
  c_limit: { en: "Limit and doubts", zh: "限制与疑点" },
  the_best: { en: "the best", zh: "最佳" },
  no_errors: { en: "0", zh: "0" },
  trials_of: { en: "{n} trials", zh: "{n} 次试验" },
  trials_failed: { en: "{failed} of {all} failed", zh: "{all} 次中有 {failed} 次失败" },
  in_trials: { en: "in {n} of {all} trials", zh: "{all} 次试验中的 {n} 次" },
  invalid_all: { en: "not valid", zh: "无效" },
  invalid_times: { en: "times not valid", zh: "时间无效" },
  letters_label: { en: "Letters", zh: "字母" },
  doubts_more: { en: "what speaks against it", zh: "疑点详情" },
  caption_tested: { en: "Rows that share a letter can't be told apart. By the exact signed-rank test within blocks at 5 %, Holm's method over all pairs, and nothing nearer than {least}.", zh: "共用一个字母的行分不出高下。依据：区组内精确符号秩检验（5 %），对所有两两比较用 Holm 法，且差距不足 {least} 的不算差异。" },
  caption_untested: { en: "Too few blocks to test: ranges span all trials and are no confidence intervals; rows share a rank (=) where their ranges overlap.", zh: "区组太少，无法检验：范围涵盖所有试验，不是置信区间；范围重叠的行名次相同（=）。" },
  caption_single: { en: "One stack: there is nothing to rank.", zh: "只有一个栈，无从排名。" },
  caption_times: { en: "Response time counts from the instant a request was due. Each figure is the median over trials.", zh: "响应时间从请求应发的时刻算起。每个数字都取各次试验的中位数。" },
  caption_service: { en: "Its driver knows service times only: they leave out whoever would have asked during a stall.", zh: "该驱动只知道服务时间：不包括停顿期间本该发出的请求。" },
  ceiling_line: { en: "Control: the client reaches {rate} of the calibration target.", zh: "对照：客户端对校准目标可达 {rate}。" },
  twin_line: { en: "A/A: {stack} to itself {ratio}", zh: "A/A：{stack} 与自身之比 {ratio}" },
  twin_noise: { en: "; noise within a block {noise}", zh: "；区组内噪声 {noise}" },
  least_band: { en: "The shaded band is no difference ({least}).", zh: "阴影带内不算差异（{least}）。" },
  struck: { en: "Struck out: what is not valid, with its reason on the row.", zh: "划去的数字无效，原因写在该行。" },
  to_trial: { en: "timeline", zh: "时间线" },
  to_why: { en: "why", zh: "为何" },
  // Charts
  legend: { en: "Series: press to hide or show", zh: "数据系列：按下可隐藏或显示" },
  figures: { en: "Figures as a table", zh: "以表格显示数字" },
  chart_keys: { en: "Arrow keys move the cursor.", zh: "用方向键移动光标。" },
  and_more: { en: "and {n} more", zh: "另有 {n} 个" },
  context_note: { en: "{n} stacks: eight are in colour, the others are grey until their name is pressed.", zh: "{n} 个栈：其中八个着色，其余为灰色，点名字可着色。" },
  no_curves: { en: "There are no curves: nothing was measured at more than one load, and no distribution was kept.", zh: "没有曲线：没有在多种负载下测量，也没有保存分布。" },
  sweep_goodput: { en: "Goodput by connections", zh: "有效速率随连接数" },
  sweep_goodput_rate: { en: "Goodput by the rate asked for", zh: "有效速率随要求的速率" },
  sweep_times: { en: "Response time by connections, p99", zh: "响应时间随连接数，p99" },
  sweep_times_rate: { en: "Response time by the rate asked for, p99", zh: "响应时间随要求的速率，p99" },
  sweep_note: { en: "Lines join medians; bars span all trials; hollow marks are not valid.", zh: "连线为中位数；竖线涵盖所有试验；空心标记无效。" },
  sweep_note_times: { en: "p99 of response time, bars span all trials; hollow marks are lower bounds or not valid.", zh: "p99 响应时间，竖线涵盖所有试验；空心标记为下界或无效。" },
  x_connections: { en: "Connections", zh: "连接数" },
  x_rate: { en: "Rate asked for, 1/s", zh: "要求的速率，1/s" },
  y_goodput: { en: "Goodput, 1/s", zh: "有效速率，1/s" },
  y_response: { en: "Response time", zh: "响应时间" },
  y_service: { en: "Service time", zh: "服务时间" },
  ceiling: { en: "ceiling of the control", zh: "对照上限" },
  knee: { en: "knee", zh: "拐点" },
  knees: { en: "Knees", zh: "拐点" },
  knee_of: { en: "{stack}: {value}", zh: "{stack}：{value}" },
  at_connections: { en: "{n} connections", zh: "{n} 个连接" },
  at_rate: { en: "{rate} asked for", zh: "要求 {rate}" },
  percentiles: { en: "Percentiles of response time", zh: "响应时间的百分位" },
  percentiles_note: { en: "Dashed with hollow marks: among censored samples, longer than shown.", zh: "虚线与空心标记：落在删失样本中，实际比所示更长。" },
  percentiles_service: { en: "Stacks marked * are of service times, which is all that their driver knows.", zh: "带 * 的栈只有服务时间，其驱动只知道这些。" },
  x_percentile: { en: "Percentile", zh: "百分位" },
  choose_table: { en: "Table", zh: "表格" },
  choose_cell: { en: "Stack and load", zh: "栈与负载" },
  longer_than: { en: "longer than {time}", zh: "长于 {time}" },
  samples_line: { en: "{samples} samples, {censored} of them censored", zh: "{samples} 个样本，其中 {censored} 个删失" },
  c_quantile: { en: "Percentile", zh: "百分位" },
  c_value: { en: "Value", zh: "值" },
  // A trial
  no_trials: { en: "No trial was measured, so there is nothing to show over time.", zh: "没有测量任何试验，因此没有时间线可看。" },
  no_timeline: { en: "Of this trial no timeline was kept.", zh: "这次试验没有保存时间线。" },
  trial_line: { en: "Trial {trial}, the one nearest the median of {n}; {url}", zh: "第 {trial} 次试验，{n} 次中最接近中位数的一次；{url}" },
  trial_clock: { en: "All panels share one clock, in seconds; 0 is the start of the measured window, shaded is what lies outside of it. A cursor in one is a cursor in all.", zh: "所有图共用一个时钟，单位为秒；0 为测量窗口的起点，阴影为窗口之外。任一图中的光标会同步到所有图。" },
  with_warm_up: { en: "with the warm-up", zh: "含预热" },
  p_rate: { en: "Rate, 1/s", zh: "速率，1/s" },
  p_times: { en: "Times by second", zh: "逐秒时间" },
  p_heat: { en: "Response times over time", zh: "响应时间随时间的分布" },
  p_heat_note: { en: "The darker, the more answers; outlined: censored, at their bounds.", zh: "颜色越深，应答越多；带框的是删失样本，位于其下界处。" },
  p_cpu: { en: "CPU, cores kept busy", zh: "CPU，占用的核心数" },
  p_thread_groups: { en: "Server's CPU by group of threads, cores", zh: "服务器各线程组的 CPU，核心数" },
  p_sockets: { en: "Sockets and queues", zh: "套接字与队列" },
  p_jvm: { en: "JVM: pauses as a share of the time, compilers in cores", zh: "JVM：停顿占时间的份额，编译器占用核心数" },
  p_memory: { en: "Memory", zh: "内存" },
  p_threads: { en: "Threads", zh: "线程" },
  goodput: { en: "goodput", zh: "有效速率" },
  failures: { en: "failures", zh: "失败" },
  answers: { en: "answers", zh: "应答数" },
  censored: { en: "censored", zh: "删失" },
  server_command: { en: "Command of the server", zh: "服务器的命令" },
  warm_up: { en: "Warm-up", zh: "预热" },
  warm_up_steady: { en: "steady after {n} bursts", zh: "{n} 轮后稳定" },
  warm_up_unsteady: { en: "not steady after {n} bursts: {why}", zh: "{n} 轮后仍不稳定：{why}" },
  stages: { en: "Parts of requests and connections", zh: "请求与连接的各个部分" },
  stage_connect: { en: "connecting", zh: "建立连接" },
  stage_tls_handshake: { en: "TLS handshake", zh: "TLS 握手" },
  stage_tls_handshake_resumed: { en: "TLS handshake ({n} resumed)", zh: "TLS 握手（其中 {n} 次为会话恢复）" },
  stage_first_byte: { en: "until the first byte of the answer", zh: "到应答的第一个字节" },
  stage_stream_wait: { en: "waited for a stream", zh: "等待流" },
  stage_window_wait: { en: "waited for a window", zh: "等待流量控制窗口" },
  c_stage: { en: "Part", zh: "部分" },
  c_had: { en: "Had it", zh: "次数" },
  c_mean: { en: "Mean", zh: "平均" },
  c_burst: { en: "Burst", zh: "轮次" },
  c_jit: { en: "JIT, share of a core", zh: "JIT，占一个核心的份额" },
  c_seconds: { en: "s", zh: "秒" },
  c_from: { en: "from", zh: "从" },
  g_server_user: { en: "server, user", zh: "服务器，用户态" },
  g_server_system: { en: "server, kernel", zh: "服务器，内核态" },
  g_client: { en: "client", zh: "客户端" },
  g_interrupts: { en: "interrupts", zh: "中断" },
  g_interrupts_within: { en: "of these, interrupts", zh: "其中中断" },
  g_steal: { en: "stolen", zh: "被虚拟机管理程序拿走" },
  g_others: { en: "others", zh: "其他进程" },
  g_upstream: { en: "upstream", zh: "上游" },
  g_established: { en: "established", zh: "已建立" },
  g_accept_queue: { en: "accept queue", zh: "接受队列" },
  g_accept_queue_limit: { en: "its limit", zh: "接受队列上限" },
  g_time_wait: { en: "TIME_WAIT", zh: "TIME_WAIT" },
  g_gc: { en: "collections", zh: "垃圾回收" },
  g_safepoint: { en: "safepoints", zh: "安全点" },
  g_jit: { en: "compilers", zh: "编译器" },
  g_heap_used: { en: "heap used", zh: "已用堆" },
  g_heap_max: { en: "heap, most", zh: "堆上限" },
  g_rss: { en: "resident", zh: "常驻内存" },
  g_threads: { en: "threads", zh: "线程数" },
  g_runnable: { en: "runnable", zh: "可运行" },
  // Why
  no_why: { en: "Nothing was measured, so there is nothing to explain.", zh: "没有测量结果，因此没有可解释的。" },
  why_intro: { en: "For each stack at each load: the limit, the figures it rests on, what they rule out, and one change that would confirm it. Where the evidence ends it says unexplained.", zh: "对每个负载下的每个栈：限制是什么、依据哪些数字、排除了什么，以及一个可以证实它的改动。证据不足时写明“未能解释”。" },
  sure: { en: "sure", zh: "确定" },
  likely: { en: "likely", zh: "很可能" },
  possible: { en: "possible", zh: "可能" },
  because: { en: "Because", zh: "依据" },
  ruled_out: { en: "Not", zh: "不是" },
  would_confirm: { en: "Would confirm it", zh: "可以证实它" },
  plays_a_part: { en: "Plays a part", zh: "也有影响" },
  not_known: { en: "Not known", zh: "未知" },
  agreeing: { en: "so in {n} of {all} trials", zh: "{all} 次试验中 {n} 次如此" },
  confirmed_by: { en: "Tried", zh: "已尝试" },
  outcome_line: { en: "{variant}: {before} before, {predicted} predicted, {measured} measured", zh: "{variant}：之前 {before}，预测 {predicted}，实测 {measured}" },
  outcome_confirmed: { en: "confirmed", zh: "证实" },
  outcome_partly: { en: "partly: it moved that way, and another limit is near", zh: "部分证实：方向一致，另一个限制就在附近" },
  outcome_refuted: { en: "refuted", zh: "否定" },
  outcome_could_not_tell: { en: "could not tell", zh: "无法判断" },
  outcome_level: { en: "{users} users: {rate}", zh: "{users} 个用户：{rate}" },
  capacity: { en: "What they can carry", zh: "承载能力" },
  capacity_note: { en: "From several numbers of connections: the Universal Scalability Law, or the model of a pool, whichever explains the levels.", zh: "来自多个连接数：通用可扩展性定律，或线程池模型，取能解释各级数据者。" },
  c_explained: { en: "Explained by", zh: "由何解释" },
  c_peak: { en: "Most", zh: "最高" },
  c_bends: { en: "Bends at", zh: "拐点" },
  c_model: { en: "Model", zh: "模型" },
  c_doubts: { en: "Doubts", zh: "疑点" },
  model_law: { en: "scalability law", zh: "可扩展性定律" },
  model_pool: { en: "a pool", zh: "线程池" },
  model_undecided: { en: "the levels do not decide", zh: "数据不足以判定" },
  law_words: { en: "λ {lambda}, σ {sigma}, κ {kappa}", zh: "λ {lambda}，σ {sigma}，κ {kappa}" },
  pool_words: { en: "K {size}, S {time}", zh: "K {size}，S {time}" },
  c_round: { en: "Round", zh: "轮" },
  // Claims
  claims_of: { en: "{title}; {source}; {when}", zh: "{title}；{source}；{when}" },
  claims_there: { en: "there: {cores}{machine}; {driver}", zh: "原文：{cores}{machine}；{driver}" },
  claims_here: { en: "here: {cores}{cpu}; {blocks} blocks", zh: "这里：{cores}{cpu}；{blocks} 个区组" },
  claim_derived: { en: "By its figures; not in its words.", zh: "出自其数字，文字中没有这样说。" },
  claim_settings: { en: "What was otherwise than in the write-up", zh: "与原文不同之处" },
  quick_look: { en: "; a quick look", zh: "；快速浏览" },
  slope_ratio: { en: "Ratios, published and measured", zh: "比值：已发表与实测" },
  slope_per_s: { en: "Rates, published and measured", zh: "速率：已发表与实测" },
  slope_micros: { en: "Times, published and measured", zh: "时间：已发表与实测" },
  slope_note: { en: "Left what was published, right what was measured, with its 95 % interval. A line through 1 changes the order.", zh: "左侧为已发表，右侧为实测及其 95 % 区间。穿过 1 的线意味着次序颠倒。" },
  slope_note_levels: { en: "Left what was published, right what was measured, with its 95 % interval. Machines differ, so levels do.", zh: "左侧为已发表，右侧为实测及其 95 % 区间。机器不同，水平也不同。" },
  published: { en: "published", zh: "已发表" },
  expected: { en: "expected", zh: "预期" },
  measured: { en: "measured", zh: "实测" },
  c_blocks: { en: "Blocks", zh: "区组" },
  c_verdict: { en: "Verdict", zh: "判定" },
  c_what: { en: "Comparison", zh: "比较" },
  accounts_rate: { en: "up to {share} % of the rate", zh: "至多占速率的 {share} %" },
  accounts_requests: { en: "up to {share} % of the requests", zh: "至多占请求的 {share} %" },
  v_confirmed: { en: "confirmed", zh: "证实" },
  v_size_undecided: { en: "direction confirmed, size undecided", zh: "方向证实，幅度未定" },
  v_size_refuted: { en: "direction confirmed, size refuted", zh: "方向证实，幅度不符" },
  v_reversed: { en: "reversed", zh: "相反" },
  v_tied: { en: "tied", zh: "持平" },
  v_undecided: { en: "undecided", zh: "未定" },
  v_not_measured: { en: "not measured", zh: "未测量" },
  v_not_testable: { en: "not testable here", zh: "此处无法检验" },
  comparisons: { en: "{n} comparisons", zh: "{n} 个比较" },
  notes: { en: "Notes", zh: "附注" },
  not_drawn: { en: "{n} comparisons lack one of the two figures and are in the table only.", zh: "{n} 个比较缺少其中一个数字，只列在表中。" },
  // Same work
  work_same: { en: "No difference was found between the answers of the stacks of a round.", zh: "同一轮各栈的应答没有发现差异。" },
  work_differs: { en: "Answers of stacks of a round differ in the following. What differs in bytes or connections is not quite the same work.", zh: "同一轮各栈的应答在以下方面不同。字节数或连接方式不同，就不完全是同样的工作。" },
  c_aspect: { en: "Aspect", zh: "方面" },
  c_values: { en: "Values, and the stacks that have them", zh: "取值，以及取该值的栈" },
  // Again
  command: { en: "Command", zh: "命令" },
  copy: { en: "Copy", zh: "复制" },
  copied: { en: "Copied", zh: "已复制" },
  seed: { en: "Seed", zh: "种子" },
  pace: { en: "Pace", zh: "节奏" },
  placement: { en: "Placement", zh: "布置" },
  loads: { en: "Loads", zh: "负载" },
  processes: { en: "Processes", zh: "进程" },
  processes_kept: {
    en: "kept from block to block: what lies between two of a stack only A/A shows",
    zh: "各区组沿用同一进程：同一技术栈两个进程之间的差别，只有 A/A 能看出",
  },
  blocks: { en: "Blocks", zh: "区组" },
  blocks_text: { en: "{blocks} planned, {most} at most", zh: "计划 {blocks} 个，最多 {most} 个" },
  trials: { en: "Trials", zh: "试验" },
  trials_text: { en: "{made} made, {planned} planned for the least blocks", zh: "完成 {made} 次，最少区组计划 {planned} 次" },
  started: { en: "Started", zh: "开始于" },
  directory: { en: "Full record", zh: "完整记录" },
  machine: { en: "Machine", zh: "机器" },
  cpu: { en: "CPU", zh: "CPU" },
  memory: { en: "Memory", zh: "内存" },
  kernel: { en: "Kernel", zh: "内核" },
  open_files: { en: "Open files", zh: "打开文件上限" },
  sysctls: { en: "Kernel settings", zh: "内核设置" },
  tools: { en: "Tools", zh: "工具" },
  stacks: { en: "Stacks", zh: "栈" },
  c_title: { en: "Title", zh: "名称" },
  c_inputs: { en: "Built from (hash)", zh: "构建输入（哈希）" },
  c_jdk: { en: "JDK", zh: "JDK" },
  c_upstreams: { en: "Behind it", zh: "其后的栈" },
  experiment: { en: "Experiment file", zh: "实验文件" },
  unknown: { en: "not known", zh: "未知" },
  // Missing
  nothing_missing: { en: "Nothing: every planned stack was measured and no trial failed.", zh: "没有缺失：计划的栈都已测量，没有失败的试验。" },
  failed_trials: { en: "Trials that failed", zh: "失败的试验" },
  left_out: { en: "Stacks left out", zh: "未参加的栈" },
  not_reached: { en: "Not reached", zh: "没有轮到" },
  c_load: { en: "Load", zh: "负载" },
  c_block: { en: "Block", zh: "区组" },
  c_error: { en: "Error", zh: "错误" },
  c_reason: { en: "Reason", zh: "原因" },
  // Kinds of errors
  e_timed_out: { en: "timed out", zh: "超时" },
  e_connect_failed: { en: "connect failed", zh: "连接失败" },
  e_reset: { en: "reset", zh: "被重置" },
  e_closed_early: { en: "closed early", zh: "过早关闭" },
  e_malformed: { en: "malformed", zh: "格式错误" },
  e_unsent: { en: "unsent", zh: "未发出" },
  e_backlog_overflow: { en: "backlog overflow", zh: "队列溢出" },
  e_lost: { en: "lost", zh: "丢失" },
  e_in_flight: { en: "in flight", zh: "仍在途" },
  e_unexpected: { en: "unexpected", zh: "不符预期" },
} as const satisfies Record<string, Record<Lang, string>>;

export type Key = keyof typeof STRINGS;

let current: Lang = "en";

export function lang(): Lang {
  return current;
}

export function setLang(to: Lang): void {
  current = to;
}

/** A text in the language of the page, with its places filled. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  const text: string = STRINGS[key][current];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}

/** As [`t`], where the places are elements. */
export function parts(key: Key, values: Record<string, Node | string>): (Node | string)[] {
  const text: string = STRINGS[key][current];
  return text.split(/(\{\w+\})/).filter((it) => it !== "").map((it) => {
    const name = /^\{(\w+)\}$/.exec(it)?.[1];
    return name !== undefined && name in values ? (values[name] as Node | string) : it;
  });
}

/** Whether there is a text of that name: signals and outcomes of newer versions have none. */
export function isKey(name: string): name is Key {
  return Object.hasOwn(STRINGS, name);
}

/** A sentence of the crate `explain` as text. */
export function sentence(english: string): string {
  return current === "zh" ? (chinese(english) ?? english) : english;
}

/** The same as an element, which says that it is English where it stayed so. */
export function said(english: string, attributes: Record<string, string> = {}): HTMLElement {
  const text = sentence(english);
  const isForeign = current !== "en" && text === english;
  return h("span", { dir: "auto", ...attributes, ...(isForeign ? { lang: "en" } : {}) }, text);
}

/** Names in a row: `a, b and c`. */
export function names(all: string[], most = 6): (Node | string)[] {
  const shown = all.slice(0, all.length > most ? most - 1 : most);
  const out: (Node | string)[] = [];
  shown.forEach((name, index) => {
    if (index > 0) out.push(index === all.length - 1 ? t("and") : t("comma"));
    out.push(given(name));
  });
  if (shown.length < all.length) out.push(t("comma"), t("and_more", { n: all.length - shown.length }));
  return out;
}
