// node gate.js PORT PERMITS MS: PERMITS requests at a time hold a permit, each for MS, and all others wait in a list:
// PERMITS/MS a second. No thread and no socket tells how many: it is a number inside the program.
const http = require("node:http");

const [port, permits, ms] = process.argv.slice(2).map(Number);
const sleep = () => new Promise((resolve) => setTimeout(resolve, ms));

let free = permits;
const waiting = [];

async function acquire() {
  if (free > 0) free -= 1;
  else await new Promise((resolve) => waiting.push(resolve));
}

function release() {
  const next = waiting.shift();
  if (next) next();
  else free += 1;
}

http
  .createServer(async (request, response) => {
    await acquire();
    try {
      await sleep();
    } finally {
      release();
    }
    response.end("hello");
  })
  .listen(port, "127.0.0.1", 4096);
