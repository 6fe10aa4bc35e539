// node sleep.js PORT SHAPE MEAN_MS: each answer waits by a timer, and nobody waits for anybody: N users get N / mean.
// SHAPE is `fixed`, `exponential`, `tail` (Pareto with exponent 1.5, from a third of the mean on, to 30 times the mean), or `cache`
// (nine in ten take half of the mean).
const http = require("node:http");

const [port, shape, mean] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];

const shapes = {
  fixed: () => mean,
  exponential: () => -mean * Math.log(1 - Math.random()),
  tail: () => Math.min((mean / 3) * (1 - Math.random()) ** (-1 / 1.5), 30 * mean),
  cache: () => mean * (Math.random() < 0.9 ? 0.5 : 5.5),
};
const wait_ms = shapes[shape];

http
  .createServer((request, response) => setTimeout(() => response.end("hello"), wait_ms()))
  .listen(port, "127.0.0.1", 4096);
