// A service of one's own in Node, with what comes with it.
const http = require("node:http");

const server = http.createServer((request, response) => {
  if (request.url === "/items") {
    response.end("three items\n");
  } else {
    response.statusCode = 404;
    response.end("not here\n");
  }
});
server.listen(Number(process.env.PORT || 3000), "127.0.0.1");
