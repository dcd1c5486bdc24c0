/** What EXPLAIN tells of a statement as JSON, XML or YAML, with the layout that PostgreSQL's tools read. */
import { stringify } from "yaml";
import type { ExplainJson } from "./explain.js";

const NAMESPACE = "http://www.postgresql.org/2009/explain";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#x0d;",
};

export function formatExplained(format: "json" | "xml" | "yaml", statement: ExplainJson): string {
  switch (format) {
    case "json":
      return JSON.stringify([statement], null, 2);
    case "yaml":
      return stringify([statement], {
        defaultStringType: "QUOTE_DOUBLE",
        defaultKeyType: "PLAIN",
        lineWidth: 0,
      }).trimEnd();
    case "xml": {
      const lines = [`<explain xmlns="${NAMESPACE}">`];
      writeElement("Query", statement, "  ", lines);
      lines.push("</explain>");
      return lines.join("\n");
    }
  }
}

function writeElement(name: string, value: ExplainJson[string] | ExplainJson, indent: string, lines: string[]): void {
  const tag = name.replaceAll(/[^\w.-]/g, "-");
  if (typeof value !== "object") {
    lines.push(`${indent}<${tag}>${escaped(String(value))}</${tag}>`);
    return;
  }
  lines.push(`${indent}<${tag}>`);
  const inner = `${indent}  `;
  if (!Array.isArray(value)) {
    for (const [property, part] of Object.entries(value)) writeElement(property, part, inner, lines);
  } else {
    for (const item of value) writeElement(typeof item === "object" ? "Plan" : "Item", item, inner, lines);
  }
  lines.push(`${indent}</${tag}>`);
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"\r]/g, (character) => ENTITIES[character]!);
}
