// Reads an output of wrk with the npm package `wrk`: parse.js FOLDER_OF_THE_PACKAGE FILE, JSON on standard output.
const [folder, file] = process.argv.slice(2);
const parse = require(`${folder}/node_modules/wrk/lib/parseWrk.js`);
console.log(JSON.stringify(parse(require("fs").readFileSync(file, "utf8"))));
