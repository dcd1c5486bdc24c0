/** Statements of SQL in a body, and those whose text is computed: planned when first run, with the records of then. */
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import type { Expr } from "../../../query/expr/expr.js";
import { type SqlType, TEXT, type Value } from "../../../values/values.js";
import type { Variables } from "../../bind/bound-statement.js";
import type { StatementNode } from "../../parse/ast.js";
import { parseSql } from "../../parse/parse.js";
import type { PlDynamic, PlSql } from "../../parse/plpgsql-ast.js";
import type { RoutinePlan, StatementResult } from "../host.js";
import { refuseWrites } from "../refuse-writes.js";
import { PlExpression } from "./expression.js";
import type { Frame } from "./frame.js";
import type { Namespace, RecordUse } from "./namespace.js";

/** A plan with the values for its parameters, and the text that was planned. */
export interface Ready {
  readonly plan: RoutinePlan;
  readonly params: readonly Value[];
  readonly text: string;
}

/** What is planned in place of a statement. */
type Form = (node: StatementNode) => StatementNode;
const AS_IT_IS: Form = (node) => node;

export interface Preparable {
  prepare(frame: Frame): Ready | Promise<Ready>;
}

export class PlStatementText implements Preparable {
  private node: StatementNode | null = null;
  private known: { readonly epoch: string; readonly uses: readonly RecordUse[]; readonly plan: RoutinePlan } | null =
    null;

  constructor(
    readonly text: string,
    private readonly names: Namespace,
    private readonly form = AS_IT_IS,
  ) {}

  prepare(frame: Frame): Ready {
    const { host, context } = frame.invocation;
    const { known } = this;
    const epoch = host.epoch(context);
    const isCurrent = known?.epoch === epoch && known.uses.every(([slot, type]) => frame.types[slot] === type);
    if (!isCurrent) {
      this.node ??= this.form(parseSql(this.text)[0]!.node);
      const uses: RecordUse[] = [];
      const plan = host.plan(this.node, { variables: this.names.variables(frame, uses) }, context);
      this.known = { epoch, uses, plan };
    }
    return { plan: this.known!.plan, params: frame.values.slice(), text: this.text };
  }
}

/** EXECUTE: one statement, of a text that is known when it runs. */
export class PlDynamicText implements Preparable {
  private readonly query: PlExpression;
  private readonly using: readonly PlExpression[];

  constructor(
    node: PlDynamic,
    names: Namespace,
    private readonly form = AS_IT_IS,
  ) {
    this.query = new PlExpression(node.query.text, names, TEXT);
    this.using = node.using.map(({ text }) => new PlExpression(text, names, null));
  }

  prepare(frame: Frame): Ready | Promise<Ready> {
    return after(this.statements(frame), ({ nodes, params, types, text }) => {
      if (nodes.length !== 1) throw sqlError("42601", "EXECUTE must have one statement here");
      return { plan: planned(this.form(nodes[0]!), types, frame), params, text };
    });
  }

  /** The statements of the text. Throws 22004 for NULL. */
  statements(frame: Frame) {
    return after(this.query.evaluate(frame), (text) => {
      if (text === null) throw sqlError("22004", "query string argument of EXECUTE is null");
      const nodes = parseSql(text as string).map(({ node }) => node);
      const values = evaluateAll(this.using, frame);
      return after(values, (params) => ({
        text: text as string,
        nodes,
        params,
        types: this.using.map((expression) => expression.type(frame)),
      }));
    });
  }
}

/** Values of expressions in order. */
export function evaluateAll(expressions: readonly PlExpression[], frame: Frame): Value[] | Promise<Value[]> {
  const values: Value[] = [];
  const from = (start: number): Value[] | Promise<Value[]> => {
    for (let i = start; i < expressions.length; i++) {
      const value = expressions[i]!.evaluate(frame);
      if (value instanceof Promise) {
        return value.then((arrived) => {
          values.push(arrived);
          return from(i + 1);
        });
      }
      values.push(value);
    }
    return values;
  };
  return from(0);
}

/** A statement that sees no variables, only $1, $2, … of these types. */
export function planned(node: StatementNode, types: readonly SqlType[], { invocation }: Frame): RoutinePlan {
  const variables: Variables = {
    conflict: "column",
    find: () => null,
    parameter: (index): Expr | null => {
      const type = types[index];
      return type === undefined ? null : Object.freeze({ kind: "param", type, index });
    },
  };
  return invocation.host.plan(node, { variables }, invocation.context);
}

export function preparable(query: PlSql | PlDynamic, names: Namespace, form = AS_IT_IS): Preparable {
  return "text" in query ? new PlStatementText(query.text, names, form) : new PlDynamicText(query, names, form);
}

/** Runs the statement to its end. */
export function runReady(
  { plan, params }: Omit<Ready, "text">,
  frame: Frame,
  maxRows = Number.MAX_SAFE_INTEGER,
): StatementResult | Promise<StatementResult> {
  const { host, context, canWait, readOnly } = frame.invocation;
  refuseWrites(plan, { readOnly });
  context.checkpoint();
  return host.run(plan, params, context, { maxRows, canWait });
}
