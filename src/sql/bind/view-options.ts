/** What WITH (…) of CREATE VIEW and SET (…) of ALTER VIEW say about a view. */
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import type { OptionNode } from "../parse/ast-definitions.js";
import { switched } from "../parse/from-pg-columns.js";

export type ViewOptions = Partial<Pick<ViewDef, "checkOption" | "invoker" | "barrier">>;

interface Option {
  read(option: OptionNode): ViewOptions;
  readonly without: ViewOptions;
}

const OPTIONS: ReadonlyMap<string, Option> = new Map([
  ["check_option", { read: (option) => ({ checkOption: checkOption(option) }), without: { checkOption: null } }],
  ["security_barrier", { read: (option) => ({ barrier: switched(option) }), without: { barrier: false } }],
  ["security_invoker", { read: (option) => ({ invoker: switched(option) }), without: { invoker: false } }],
]);

/** Throws 22023. */
export function viewOptions(options: readonly OptionNode[]): ViewOptions {
  const read = options.map((option, i) => {
    const { name } = option;
    const known = OPTIONS.get(name);
    if (known === undefined) throw sqlError("22023", `unrecognized parameter "${name}"`);
    if (options.findIndex((other) => other.name === name) < i) {
      throw sqlError("22023", `parameter "${name}" specified more than once`);
    }
    return known.read(option);
  });
  return Object.assign({}, ...read) as ViewOptions;
}

/** Without the options of these names. As in PostgreSQL, a name may mean none. */
export function viewReset(options: readonly OptionNode[]): ViewOptions {
  return Object.assign({}, ...options.map(({ name }) => OPTIONS.get(name)?.without)) as ViewOptions;
}

function checkOption({ name, value }: OptionNode): "local" | "cascaded" {
  const text = String(value).toLowerCase();
  if (text === "local" || text === "cascaded") return text;
  throw sqlError("22023", `invalid value for enum option "${name}": ${value}`, {
    detail: 'Valid values are "local" and "cascaded".',
  });
}
