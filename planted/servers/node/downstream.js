// node downstream.js PORT CONNECTIONS MS: each request asks another process, which takes MS for an answer however many ask, over
// CONNECTIONS that are kept open, or as many as are needed where that is 0: CONNECTIONS/MS a second, or N/MS.
const { fork } = require("node:child_process");
const http = require("node:http");

const [port, connections, ms] = process.argv.slice(2).map(Number);

function serve() {
  const server = http.createServer((request, response) => setTimeout(() => response.end("hello"), ms));
  server.listen(0, "127.0.0.1", 4096, () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

function front(behind) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections === 0 ? Infinity : connections });
  http
    .createServer((request, response) => {
      http.get({ agent, host: "127.0.0.1", port: behind }, (answer) => {
        answer.resume().on("end", () => response.end("hello"));
      });
    })
    .listen(port, "127.0.0.1", 4096);
}

if (process.send) serve();
else fork(__filename, process.argv.slice(2)).once("message", front);
