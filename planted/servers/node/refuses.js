// node refuses.js PORT EACH: of EACH requests one is answered, and all others get a 429 at once; the first 20 are answered all. No
// rate is held: who asks twice as often gets twice as many answers.
const http = require("node:http");

const [port, each] = process.argv.slice(2).map(Number);
let requests = 0;

http
  .createServer((request, response) => {
    requests += 1;
    if (requests <= 20 || requests % each === 0) response.end("hello");
    else response.writeHead(429).end("too many");
  })
  .listen(port, "127.0.0.1", 4096);
