// node workers.js PORT COUNT MS: COUNT processes share the port, as Node's cluster has them, each of which is held by a request for
// MS: COUNT/MS a second. The parent hands out connections.
const cluster = require("node:cluster");
const http = require("node:http");

const [port, count, ms] = process.argv.slice(2).map(Number);
const never = new Int32Array(new SharedArrayBuffer(4));

if (cluster.isPrimary) {
  for (let worker = 0; worker < count; worker += 1) cluster.fork();
} else {
  http
    .createServer((request, response) => {
      Atomics.wait(never, 0, 0, ms);
      response.end("hello");
    })
    .listen(port, "127.0.0.1", 4096);
}
