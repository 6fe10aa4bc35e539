// node limiter.js PORT HOW RATE [WORK_MS]: a bucket of tokens, RATE more of them a second: RATE answers a second, however many
// ask. HOW is `delays` (a request waits for its token and takes WORK_MS then, 0 if not said; a bucket holds those of a second),
// `spaces` (the same, and the bucket holds one), `ticks` (ten times a second a tenth of RATE is let go, of those who wait) or
// `refuses` (the bucket holds 20; without a token the answer is 429, at once).
const http = require("node:http");

const [port, how, rate] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const work_ms = Number(process.argv[5] ?? 0);
const gap_ms = 1e3 / rate;
const full_ms = { delays: 1e3, spaces: 0, ticks: 0, refuses: 20 * gap_ms }[how];

// When the next token is made. In the past: since then they gather, until the bucket is full.
let next_ms = performance.now() - full_ms;

// How long to wait for the next token; it is taken if that is `within_ms`.
function token(within_ms) {
  const now = performance.now();
  const made = Math.max(next_ms, now - full_ms);
  const wait_ms = Math.max(0, made - now);
  if (wait_ms <= within_ms) next_ms = made + gap_ms;
  return wait_ms;
}

function delays(response) {
  setTimeout(() => response.end("hello"), token(Infinity) + work_ms);
}

function refuses(response) {
  if (token(0) > 0) response.writeHead(429).end("too many");
  else response.end("hello");
}

const waiting = [];

function ticks(response) {
  waiting.push(response);
}

if (how === "ticks") {
  setInterval(() => waiting.splice(0, rate / 10).forEach((response) => response.end("hello")), 100);
}

const answer = { delays, spaces: delays, ticks, refuses }[how];
http.createServer((request, response) => answer(response)).listen(port, "127.0.0.1", 4096);
