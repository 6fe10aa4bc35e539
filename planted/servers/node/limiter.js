// node limiter.js PORT HOW RATE: RATE answers a second, however many ask. HOW is `delays` (a request waits for its turn) or
// `refuses` (a bucket of 20 tokens; without one the answer is 429, at once).
const http = require("node:http");

const [port, how, rate] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const gap_ms = 1e3 / rate;
const bucket = 20;

// When the next token is there; a full bucket is as many of them ahead of now.
let next_ms = performance.now() - bucket * gap_ms;

function delays(response) {
  const now = performance.now();
  next_ms = Math.max(now, next_ms) + gap_ms;
  setTimeout(() => response.end("hello"), next_ms - now);
}

function refuses(response) {
  const now = performance.now();
  const due = Math.max(next_ms, now - bucket * gap_ms);
  if (due > now) {
    response.writeHead(429).end("too many");
    return;
  }
  next_ms = due + gap_ms;
  response.end("hello");
}

const answer = { delays, refuses }[how];
http.createServer((request, response) => answer(response)).listen(port, "127.0.0.1", 4096);
