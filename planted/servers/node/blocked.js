// node blocked.js PORT HOW MS: the one thread that answers everybody is held for MS by each request: 1/MS a second, however
// many ask. HOW is `waits` (it takes no CPU time) or `computes`.
const http = require("node:http");

const [port, how, ms] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const never = new Int32Array(new SharedArrayBuffer(4));

const hold = {
  waits: () => Atomics.wait(never, 0, 0, ms),
  computes: () => {
    const end = process.cpuUsage().user + process.cpuUsage().system + ms * 1e3;
    while (process.cpuUsage().user + process.cpuUsage().system < end);
  },
}[how];

http
  .createServer((request, response) => {
    hold();
    response.end("hello");
  })
  .listen(port, "127.0.0.1", 4096);
