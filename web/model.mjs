// Prints src/model.ts, the names of docs/report.schema.json as TypeScript. `scripts/web.sh build` writes it, and
// `scripts/web.sh` fails where it is not what this prints.

import { readFileSync } from "node:fs";

const schema = JSON.parse(readFileSync(new URL("../docs/report.schema.json", import.meta.url), "utf8"));
const SIMPLE = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

/** What of a schema says nothing about the type. */
const ANNOTATIONS = new Set(["$schema", "$defs", "title", "description", "format", "minimum", "maximum", "default"]);

function union(types) {
  return [...new Set(types)].join(" | ");
}

/** The type of a schema within another. */
function type(it) {
  const keys = Object.keys(it).filter((key) => !ANNOTATIONS.has(key));
  const only = (...known) => {
    const unknown = keys.filter((key) => !known.includes(key));
    if (unknown.length > 0) throw new Error(`model.mjs does not know what ${unknown.join(", ")} means in ${JSON.stringify(it)}`);
  };
  if (it.$ref) {
    only("$ref");
    return it.$ref.replace("#/$defs/", "");
  }
  if (it.anyOf ?? it.oneOf) {
    only("anyOf", "oneOf");
    return union((it.anyOf ?? it.oneOf).map(type));
  }
  if (it.const !== undefined) return JSON.stringify(it.const);
  if (it.enum) return union(it.enum.map((value) => JSON.stringify(value)));
  const types = [it.type].flat();
  if (types.includes("array")) {
    only("type", "items", "prefixItems", "minItems", "maxItems");
    const array = it.prefixItems ? `[${it.prefixItems.map(type).join(", ")}]` : arrayOf(it);
    return union([array, ...types.filter((name) => name !== "array")]);
  }
  if (types.includes("object")) {
    only("type", "additionalProperties");
    return union([`Record<string, ${type(it.additionalProperties)}>`, ...types.filter((name) => name !== "object")]);
  }
  only("type");
  return union(types.map((name) => SIMPLE[name] ?? fail(name)));
}

function fail(name) {
  throw new Error(`model.mjs does not know the type ${name}`);
}

/** `T[]`, or a tuple where the schema says how many there are. */
function arrayOf({ items, minItems, maxItems }) {
  const each = type(items);
  if (maxItems !== undefined && minItems === maxItems) return `[${Array(maxItems).fill(each).join(", ")}]`;
  return each.includes(" ") ? `(${each})[]` : `${each}[]`;
}

const version = schema.properties.version.maximum;
if (!Number.isInteger(version)) throw new Error("the schema does not say which version of documents it is of");

function comment(text, indent = "") {
  const lines = (text ?? "").split("\n").map((line) => line.trim());
  return lines.length === 1 ? `${indent}/** ${lines[0]} */\n` : `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function declaration(name, it) {
  if (!it.properties) return `${comment(it.description)}export type ${name} = ${type(it)};\n`;
  const fields = Object.entries(it.properties).map(([field, of]) => {
    const optional = it.required?.includes(field) ? "" : "?";
    return `${comment(of.description, "  ")}  ${field}${optional}: ${type(of)};\n`;
  });
  return `${comment(it.description)}export interface ${name} {\n${fields.join("")}}\n`;
}

process.stdout.write(`// Made by web/model.mjs from docs/report.schema.json, which is that of crates/report/src/page/model.rs. Do not edit.
//
// Times are microseconds, rates a second, shares 0 to 1, unless a name says otherwise. A figure that is not known is null or
// absent, never 0.

/** The version of the documents that this page knows. */
export const PAGE_VERSION = ${version};

${[["Page", schema], ...Object.entries(schema.$defs)].map(([name, it]) => declaration(name, it)).join("\n")}`);
