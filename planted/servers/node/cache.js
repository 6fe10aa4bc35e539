// node cache.js PORT COLD_MS WARM_MS COUNT: the first COUNT answers take COLD_MS, all others WARM_MS: a step in the rate.
const http = require("node:http");

const [port, cold_ms, warm_ms, count] = process.argv.slice(2).map(Number);
let answers = 0;

http
  .createServer((request, response) => {
    answers += 1;
    setTimeout(() => response.end("hello"), answers > count ? warm_ms : cold_ms);
  })
  .listen(port, "127.0.0.1", 4096);
