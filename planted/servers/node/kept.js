// node kept.js PORT WAIT_MS: a request on a new connection is answered at once, and each that follows on it after WAIT_MS, whoever
// else there is: N users who keep their connections get N / WAIT_MS.
const http = require("node:http");

const [port, wait_ms] = [Number(process.argv[2]), Number(process.argv[3])];
const known = new WeakSet();

http
  .createServer((request, response) => {
    const is_known = known.has(request.socket);
    known.add(request.socket);
    if (is_known) setTimeout(() => response.end("hello"), wait_ms);
    else response.end("hello");
  })
  .listen(port, "127.0.0.1", 4096);
