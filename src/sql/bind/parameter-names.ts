/**
 * Names of the parameters of functions that may be called as `f(a, name => value)`, with the defaults of those left
 * out. Calls are put into the order of the parameters before anything else looks at them. Called by bind-call.ts.
 */
import { sqlError } from "../../protocol/errors.js";
import { VOID } from "../../values/values.js";
import type { ArgumentNode, CallNode, ExprNode } from "../parse/ast-query.js";
import type { Binding } from "./binding.js";

/** The default of a parameter that a call leaves out: text and numbers as written, true and false. */
type Default = string | number | boolean;

interface Parameters {
  readonly names: readonly string[];
  readonly defaults?: Readonly<Record<string, Default>>;
}

const PATH: Parameters = { names: ["target", "path", "vars", "silent"], defaults: { vars: "{}", silent: false } };

const INTERVAL_NAMES = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

const MAKE_INTERVAL: Parameters = {
  names: INTERVAL_NAMES,
  defaults: Object.fromEntries(INTERVAL_NAMES.map((name) => [name, 0])),
};

const TIMESTAMP_NAMES = ["year", "month", "mday", "hour", "min", "sec"];

/** Functions with several shapes have several entries. */
const FUNCTIONS: Readonly<Record<string, readonly Parameters[]>> = {
  ...Object.fromEntries(
    ["exists", "match", "query", "query_array", "query_first"].flatMap((name) => [
      [`jsonb_path_${name}`, [PATH]],
      [`jsonb_path_${name}_tz`, [PATH]],
    ]),
  ),
  jsonb_set: [
    { names: ["jsonb_in", "path", "replacement", "create_if_missing"], defaults: { create_if_missing: true } },
  ],
  jsonb_set_lax: [
    {
      names: ["jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"],
      defaults: { create_if_missing: true, null_value_treatment: "use_json_null" },
    },
  ],
  jsonb_insert: [{ names: ["jsonb_in", "path", "replacement", "insert_after"], defaults: { insert_after: false } }],
  json_strip_nulls: [{ names: ["target", "strip_in_arrays"], defaults: { strip_in_arrays: false } }],
  jsonb_strip_nulls: [{ names: ["target", "strip_in_arrays"], defaults: { strip_in_arrays: false } }],
  read_csv: [
    {
      names: ["path", "header", "delimiter", "quote", "null_text", "columns"],
      defaults: { header: true, delimiter: ",", quote: '"', null_text: "", columns: "" },
    },
  ],
  make_interval: [MAKE_INTERVAL],
  make_date: [{ names: ["year", "month", "day"] }],
  make_time: [{ names: ["hour", "min", "sec"] }],
  make_timestamp: [{ names: TIMESTAMP_NAMES }],
  make_timestamptz: [{ names: TIMESTAMP_NAMES }, { names: [...TIMESTAMP_NAMES, "timezone"] }],
  parse_ident: [{ names: ["str", "strict"], defaults: { strict: true } }],
  regexp_count: [{ names: ["string", "pattern", "start", "flags"], defaults: { start: 1, flags: "" } }],
  regexp_instr: [
    {
      names: ["string", "pattern", "start", "N", "endoption", "flags", "subexpr"],
      defaults: { start: 1, N: 1, endoption: 0, flags: "", subexpr: 0 },
    },
  ],
  regexp_like: [{ names: ["string", "pattern", "flags"], defaults: { flags: "" } }],
  regexp_match: [{ names: ["string", "pattern", "flags"], defaults: { flags: "" } }],
  regexp_matches: [{ names: ["string", "pattern", "flags"], defaults: { flags: "" } }],
  regexp_replace: [
    { names: ["string", "pattern", "replacement", "flags"], defaults: { flags: "" } },
    { names: ["string", "pattern", "replacement", "start", "N", "flags"], defaults: { N: 1, flags: "" } },
  ],
  regexp_split_to_array: [{ names: ["string", "pattern", "flags"], defaults: { flags: "" } }],
  regexp_split_to_table: [{ names: ["string", "pattern", "flags"], defaults: { flags: "" } }],
  regexp_substr: [
    {
      names: ["string", "pattern", "start", "N", "flags", "subexpr"],
      defaults: { start: 1, N: 1, flags: "", subexpr: 0 },
    },
  ],
};

/** JDBC sends a parameter of the type void for what a function gives back; it is no argument of the call. */
export function withoutVoids<Node extends ExprNode>(node: Node, { env }: Binding): Node {
  const { declaredTypes = [] } = env;
  if (node.kind !== "call" || !declaredTypes.includes(VOID)) return node;
  const isVoid = ({ value }: ArgumentNode) => value.kind === "parameter" && declaredTypes[value.index] === VOID;
  return { ...node, args: node.args.filter((arg) => !isVoid(arg)) };
}

/** The call with its arguments in the order of the parameters. Throws 42601 and 42883. */
export function positionalCall(node: CallNode): CallNode {
  const firstNamed = node.args.findIndex((arg) => arg.name !== null);
  if (firstNamed < 0) return node;
  const given = new Map<string, ArgumentNode>();
  for (const arg of node.args.slice(firstNamed)) {
    const at = { position: arg.value.position };
    if (arg.name === null) throw sqlError("42601", "positional argument cannot follow named argument", at);
    if (given.has(arg.name)) throw sqlError("42601", `argument name "${arg.name}" used more than once`, at);
    given.set(arg.name, arg);
  }
  const positional = node.args.slice(0, firstNamed);
  const name = node.path.at(-1)!.toLowerCase();
  for (const parameters of Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name]! : []) {
    const args = arranged(parameters, positional, given, node.position);
    if (args !== null) return { ...node, args };
  }
  const spelled = [...positional.map(() => "unknown"), ...[...given.keys()].map((key) => `${key} => unknown`)];
  throw sqlError("42883", `function ${name}(${spelled.join(", ")}) does not exist`, {
    position: node.position,
    hint: "No function matches the given name and argument types. You might need to add explicit type casts.",
  });
}

/** Null when the names do not fit. Defaults are only filled in before the last parameter that is given. */
function arranged(
  { names, defaults = {} }: Parameters,
  positional: readonly ArgumentNode[],
  given: ReadonlyMap<string, ArgumentNode>,
  position: number,
): ArgumentNode[] | null {
  const rest = names.slice(positional.length);
  if (positional.length > names.length || ![...given.keys()].every((name) => rest.includes(name))) return null;
  const args = [...positional];
  const last = rest.findLastIndex((name) => given.has(name));
  for (const [i, name] of rest.entries()) {
    const argument = given.get(name);
    if (argument !== undefined) args.push({ name: null, value: argument.value });
    else if (!Object.hasOwn(defaults, name)) return null;
    else if (i < last) args.push({ name: null, value: literal(defaults[name]!, position) });
  }
  return args;
}

function literal(value: Default, position: number): ExprNode {
  if (typeof value === "string") return { kind: "string", value, position };
  return typeof value === "number" ? { kind: "integer", value, position } : { kind: "boolean", value, position };
}
