// The words of the pages, in English and Chinese: as ?lang= says, or else as the browser does.
"use strict";

const WORDS = {
  en: {
    language: "中文", agents: "agents", agent_lost: "lost", silent: (time) => `silent for ${time}`, lag: "lag", no_requests: "no requests",
    as_of: (time) => `The figures are of the last second that all load threads have told of. It ended ${time} ago.`,
    as_of_earlier: "The figures are of an earlier load.", largest: (figure) => `largest ${figure}`, goodput: "goodput", histogram: "response times", errors: "errors", warnings: "warnings",
    histogram_waits: "response times; of requests without an answer, how long they were waited for",
    finished: "finished trials", none: "none", of: "of", left: "left", report: "report", runs: "recorded runs",
    history: "history", figure: "figure", cpu: "CPU a request", p99: "p99 of response time", more: "more",
    lost: "The connection is lost; trying again. If the run has ended, its report is where it was told.",
    over: "It is over.", interrupted: "It was interrupted; what was measured is kept.", went_wrong: "It went wrong:",
    trials_done: (done, all) => `${done} of ${all} trials done`,
    trial: (t) => `trial ${t.number}, block ${t.block}, ${t.round}, ${t.load}: ${t.stack}`,
    by: (driver) => ` by ${driver}`, twin: ", its twin", control: " (control)", warm_up: "warm-up", times: (n) => ` (${n} times)`,
    servers: "servers", generator: "generator", others: "others", interrupts: "interrupts", steal: "steal",
    loads_from: (names) => `, loads from ${names}`, cores_split: "cores split",
    processes: (how) => (how === "block" ? "processes of a block each" : "processes kept"),
    cores: (n) => `of ${n} cores`, stack: "stack", round: "round", load: "load", block: "block", verdict: "verdict",
    name: "run", title: "experiment", started: "started", pace: "pace", trials: "trials", state: "state",
    running: "running", complete: "complete", partial: "partial", unreadable: "can't be read",
    no_runs: "There is no run yet.", no_history: "No run has such a figure.", changed: "changed",
    along_with: (what) => `, along with ${what}`,
    left_out: "left out", failed: "failed", doubt: "doubt", noisy_host: "noise", valid: "valid",
    stages: {
      starting: "starting", building: "building", cooling_down: "cooling down", booting: "booting",
      checking: "checking its answer", piloting: "pilot load, threads:", opening: "opening connections",
      warming_up: "warming up, burst", settling: "settling", measuring: "measuring",
      draining: "waiting for the last answers", stopping: "stopping", over: "over",
    },
    kinds: {
      timed_out: "timed out", connect_failed: "connect failed", tls_failed: "TLS failed", reset: "reset", closed_early: "closed early",
      malformed: "malformed", unsent: "unsent", backlog_overflow: "backlog overflow", in_flight: "in flight",
      refused_stream: "refused stream", stream_reset: "stream reset", gone_away: "gone away", lost: "lost",
      unexpected: "not as expected",
    },
  },
  zh: {
    language: "English", agents: "代理", agent_lost: "已丢失", silent: (time) => `${time} 没有消息`, lag: "滞后", no_requests: "没有请求",
    as_of: (time) => `以下数字属于所有负载线程都已报告的最近一秒，它结束于 ${time} 前。`,
    as_of_earlier: "以下数字属于更早的负载。", largest: (figure) => `最大 ${figure}`, goodput: "有效吞吐", histogram: "响应时间分布", errors: "错误", warnings: "警告",
    histogram_waits: "响应时间分布；没有应答的请求按等待的时长计",
    finished: "已完成的试验", none: "无", of: "/", left: "剩余", report: "报告", runs: "已记录的运行",
    history: "历史", figure: "指标", cpu: "每请求 CPU", p99: "响应时间 p99", more: "更长",
    lost: "连接已断开，正在重试。如果运行已结束，报告在终端所示的位置。",
    over: "已结束。", interrupted: "已中断；已测得的数据保留。", went_wrong: "出错：",
    trials_done: (done, all) => `已完成 ${done} / ${all} 次试验`,
    trial: (t) => `第 ${t.number} 次试验，第 ${t.block} 区组，${t.round}，${t.load}：${t.stack}`,
    by: (driver) => `（由 ${driver} 施压）`, twin: "（孪生）", control: "（对照）", warm_up: "预热", times: (n) => `（${n} 次）`,
    servers: "服务器", generator: "负载发生器", others: "其他进程", interrupts: "中断", steal: "被虚拟机管理程序拿走",
    loads_from: (names) => `，负载来自 ${names}`, cores_split: "核心分开",
    processes: (how) => (how === "block" ? "进程按区组保留" : "进程全程保留"),
    cores: (n) => `共 ${n} 核`, stack: "栈", round: "轮次", load: "负载", block: "区组", verdict: "结论",
    name: "运行", title: "实验", started: "开始时间", pace: "节奏", trials: "试验", state: "状态",
    running: "进行中", complete: "完成", partial: "部分完成", unreadable: "无法读取",
    no_runs: "还没有运行记录。", no_history: "没有运行含有该指标。", changed: "变化",
    along_with: (what) => `，同时变化的还有 ${what}`,
    left_out: "未参加", failed: "失败", doubt: "存疑", noisy_host: "干扰", valid: "有效",
    stages: {
      starting: "启动中", building: "构建", cooling_down: "冷却", booting: "启动服务器",
      checking: "检查应答", piloting: "试探负载，线程数：", opening: "建立连接",
      warming_up: "预热，第几轮：", settling: "稳定中", measuring: "测量中",
      draining: "等待最后的应答", stopping: "停止服务器", over: "结束",
    },
    kinds: {
      timed_out: "超时", connect_failed: "连接失败", tls_failed: "TLS 失败", reset: "被重置", closed_early: "提前关闭",
      malformed: "格式错误", unsent: "未发送", backlog_overflow: "队列溢出", in_flight: "未完成",
      refused_stream: "流被拒绝", stream_reset: "流被重置", gone_away: "未处理即断开", lost: "丢失", unexpected: "与预期不符",
    },
  },
};

const asked = new URLSearchParams(location.search).get("lang");
const LANG = (asked || navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
const W = WORDS[LANG];
document.documentElement.lang = LANG;

const byId = (id) => document.getElementById(id);

// Text goes into a page as text and in no other way, whatever is in it.
function say(element, text, kind) {
  element.textContent = text;
  if (kind !== undefined) element.className = kind;
}

function make(name, text, kind) {
  const element = document.createElement(name);
  say(element, text === undefined ? "" : text, kind);
  return element;
}

// The head of a column.
function headOf(text, kind) {
  const head = make("th", text, kind);
  head.scope = "col";
  return head;
}

for (const element of document.querySelectorAll("[data-word]")) say(element, W[element.dataset.word]);
say(byId("language"), W.language);
// In its own tongue, by which a screen reader says it.
const OTHER = LANG === "zh" ? "en" : "zh";
byId("language").lang = OTHER;
byId("language").hreflang = OTHER;
byId("language").href = `?lang=${OTHER}`;
