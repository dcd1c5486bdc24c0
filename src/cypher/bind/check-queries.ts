/** Checks queries clause by clause. Extended by `check.ts`, which checks whole statements. */

import { DbError } from "../../protocol/errors.js";
import { nearestName } from "../../protocol/nearest-name.js";
import type {
  CallClause,
  CallTransactions,
  ChangedProperty,
  Clause,
  DeleteClause,
  Expr,
  ForeachClause,
  MatchClause,
  ProjectionClause,
  Query,
  RemoveItem,
  SetItem,
  SingleQuery,
  SubqueryCallClause,
  UnwindClause,
} from "../parse/ast.js";
import type { Place } from "./check-base.js";
import type { CheckedColumn } from "./check-expressions.js";
import { ProjectionChecker } from "./check-projections.js";
import type { ProcedureField, ProcedureSignature } from "./procedure-catalog.js";
import { Scope } from "./scope.js";
import { ANY, itemType, MAP, NODE, RELATIONSHIP, type StaticKind } from "./static-type.js";
import { writes } from "./writes.js";

export abstract class QueryChecker extends ProjectionChecker {
  /**
   * `outer`: what a subquery sees of the query around it; `keepsOuter`: throughout. The columns of the result; none
   * without RETURN.
   */
  protected query({ parts }: Query, outer: Scope | null, keepsOuter = false): readonly CheckedColumn[] {
    const split = parts.length > 1 ? parts.flatMap(({ clauses }) => clauses).find(isInTransactions) : undefined;
    if (split !== undefined) {
      throw this.mistake(split.position, "InvalidClauseComposition", "CALL IN TRANSACTIONS cannot stand in a UNION");
    }
    const results = parts.map((part) => this.singleQuery(part, new Scope(outer, keepsOuter)));
    const first = results[0]!;
    for (const [i, columns] of results.entries()) {
      if (columns.length === first.length && columns.every(({ name }, at) => name === first[at]!.name)) continue;
      const what = `the parts of UNION give different columns: ${namesOf(first)} and ${namesOf(columns)}`;
      const remedy = "AS gives them the same names";
      throw this.mistake(parts[i]!.position, "DifferentColumnsInUnion", what, remedy);
    }
    return first;
  }

  protected subquery(query: Query, outer: Scope): readonly CheckedColumn[] {
    for (const { clauses } of query.parts) {
      const writing = clauses.find(writes);
      if (writing === undefined) continue;
      const what = `${writing.kind.toUpperCase()} is not allowed in a subquery, which only reads`;
      throw this.mistake(writing.position, "InvalidClauseComposition", what);
    }
    return this.query(query, outer, true);
  }

  private singleQuery({ clauses }: SingleQuery, start: Scope): readonly CheckedColumn[] {
    let scope = start;
    let columns: readonly CheckedColumn[] = [];
    for (const [i, clause] of clauses.entries()) {
      if (clause.kind === "subquery-call" && clause.transactions !== null) {
        this.inTransactions(clause.transactions, scope.outer !== null, clauses.slice(0, i));
      }
      if (isProjection(clause)) {
        const projected = this.projection(clause, scope);
        scope = projected.scope;
        if (clause.kind === "return") columns = projected.columns;
      } else this.clause(clause, { scope, aggregates: "forbidden" });
    }
    return columns;
  }

  private clause(clause: Exclude<Clause, ProjectionClause>, place: Place): void {
    switch (clause.kind) {
      case "match":
        if (clause.search !== undefined) this.indexSearch(clause.search, place);
        this.matchPatterns(clause.patterns, place);
        if (clause.where !== null) this.condition(clause.where, place, "WHERE");
        return;
      case "unwind":
        this.unwind(clause, place);
        return;
      case "call":
        this.procedureCall(clause, place);
        return;
      case "subquery-call":
        this.subqueryCall(clause, place);
        return;
      case "create":
        this.writtenPatterns(clause.patterns, place, "CREATE");
        return;
      case "merge":
        this.writtenPatterns([clause.pattern], place, "MERGE");
        for (const item of [...clause.onCreate, ...clause.onMatch]) this.setItem(item, place);
        return;
      case "set":
        for (const item of clause.items) this.setItem(item, place);
        return;
      case "remove":
        for (const item of clause.items) this.removeItem(item, place);
        return;
      case "delete":
        this.delete(clause, place);
        return;
      case "foreach":
        this.foreach(clause, place);
    }
  }

  /** Its variables are known before the pattern is looked at. */
  private indexSearch({ call, within }: NonNullable<MatchClause["search"]>, place: Place): void {
    if (within !== null) {
      const [found] = yieldedFields(call);
      const scope = new Scope(place.scope);
      this.define(found!.variable, found!.field === "node" ? NODE : RELATIONSHIP, scope);
      this.condition(within, { ...place, scope }, "WHERE");
    }
    this.procedureCall(call, place);
  }

  /** Of a value that is no list comes one row. */
  private unwind({ list, variable }: UnwindClause, place: Place): void {
    const type = this.typeOf(list, place);
    this.define(variable, itemType(type) ?? type, place.scope);
  }

  /** The query sees what it imports, and gives new variables. */
  private subqueryCall({ imports, keeps, query, transactions }: SubqueryCallClause, { scope }: Place): void {
    let outer = scope;
    if (imports !== "*") {
      outer = new Scope();
      for (const { name, position } of imports) {
        const type = scope.find(name);
        if (type === null) throw this.mistake(position, "UndefinedVariable", `\`${name}\` is not defined`);
        outer.define(name, type);
      }
    }
    const columns = this.query(query, outer, keeps);
    for (const { name, type } of columns) this.define({ name, position: query.position }, type, scope);
    if (transactions === null) return;
    if (transactions.status !== null) this.define(transactions.status, MAP, scope);
    if (transactions.rows !== null) {
      const type = this.typeOf(transactions.rows, { scope: new Scope(), aggregates: "forbidden" });
      this.require(transactions.rows, type, ["integer"], "OF … ROWS");
    }
  }

  private inTransactions({ position }: CallTransactions, nested: boolean, before: readonly Clause[]): void {
    const mistake = (what: string) => this.mistake(position, "InvalidClauseComposition", what);
    if (nested) throw mistake("CALL IN TRANSACTIONS cannot stand inside a subquery");
    if (before.some(writes)) throw mistake("CALL IN TRANSACTIONS cannot come after a clause that writes");
  }

  private setItem(item: SetItem, place: Place): void {
    switch (item.kind) {
      case "set-property":
        this.changed(item.target.target, ENTITY, "SET", place);
        this.propertyName(item.target, place);
        this.typeOf(item.value, place);
        return;
      case "replace":
      case "add": {
        this.changed(item.variable, ENTITY, "SET", place);
        const by = item.kind === "add" ? "+=" : "=";
        this.require(item.value, this.typeOf(item.value, place), [...ENTITY, "map"], `"${by}" of all properties`);
        return;
      }
      case "labels":
        this.changed(item.variable, ["node"], "SET of labels", place);
        for (const label of item.dynamic) this.labelNames(label, place);
    }
  }

  private removeItem(item: RemoveItem, place: Place): void {
    if (item.kind === "labels") {
      this.changed(item.variable, ["node"], "REMOVE of labels", place);
      for (const label of item.dynamic) this.labelNames(label, place);
      return;
    }
    this.changed(item.target.target, ENTITY, "REMOVE", place);
    this.propertyName(item.target, place);
  }

  private propertyName(property: ChangedProperty, place: Place): void {
    if (property.kind === "index") this.changed(property.index, ["string"], "a property's name", place);
  }

  private changed(target: Expr, wanted: readonly StaticKind[], wantedBy: string, place: Place): void {
    this.require(target, this.typeOf(target, place), wanted, wantedBy);
  }

  private delete({ targets }: DeleteClause, place: Place): void {
    for (const target of targets) {
      this.require(target, this.typeOf(target, place), [...ENTITY, "path", "list"], "DELETE");
    }
  }

  private foreach({ variable, list, clauses }: ForeachClause, place: Place): void {
    const item = itemType(this.require(list, this.typeOf(list, place), ["list"], "FOREACH")) ?? ANY;
    const scope = new Scope(place.scope);
    this.define(variable, item, scope);
    for (const clause of clauses) {
      if (!isProjection(clause)) this.clause(clause, { ...place, scope });
    }
  }

  private procedureCall(call: CallClause, place: Place): void {
    const signature = this.procedures.procedure(call.procedure);
    if (signature === null) {
      throw this.noProcedure(call);
    }
    this.procedureArguments(call, signature, place);
    if (call.yields === "*") {
      for (const { name, type } of signature.outputs) this.define({ name, position: call.position }, type, place.scope);
    }
    for (const { field, variable, position } of yieldedFields(call)) {
      const output = signature.outputs.find(({ name }) => name === field);
      if (output === undefined) throw this.unknownOutput(signature, field, position);
      this.define(variable, output.type, place.scope);
    }
    if (call.where !== null) this.condition(call.where, place, "WHERE");
  }

  private noProcedure({ procedure, position }: CallClause): DbError {
    const names = this.procedures.names();
    const near = nearestName(procedure, names);
    const meant = near === null ? "" : `Did you mean ${near}? `;
    const what = `there is no procedure \`${procedure}\``;
    const error = this.mistake(position, "ProcedureNotFound", what, "", "ProcedureError");
    if (names.length === 0) return error;
    return new DbError(error.code, error.message, {
      ...error.details,
      hint: `${meant}The procedures are ${names.join(", ")}.`,
    });
  }

  private unknownOutput({ name, outputs }: ProcedureSignature, field: string, position: number) {
    const what = `procedure \`${name}\` gives no \`${field}\``;
    const remedy = outputs.length === 0 ? "it gives nothing" : `it gives ${namesOf(outputs)}`;
    return this.mistake(position, "UndefinedVariable", what, remedy);
  }

  private procedureArguments({ args, position }: CallClause, signature: ProcedureSignature, place: Place): void {
    const { name, inputs } = signature;
    if (args === null) {
      for (const input of inputs) this.implicitArgument(input.name, input.optional, name, position);
      return;
    }
    const least = inputs.filter(({ optional }) => !optional).length;
    if (args.length < least || args.length > inputs.length) {
      const takes = least === inputs.length ? String(least) : `${least} to ${inputs.length}`;
      const what = `procedure \`${name}\` takes ${takes} ${takes === "1" ? "argument" : "arguments"} and not ${args.length}`;
      const remedy = inputs.length === 0 ? "" : namesOf(inputs);
      throw this.mistake(position, "InvalidNumberOfArguments", what, remedy);
    }
    for (const [i, arg] of args.entries()) this.procedureArgument(arg, inputs[i]!, name, place);
  }

  private procedureArgument(arg: Expr, { name, type }: ProcedureField, procedure: string, place: Place): void {
    // A whole number goes where a float is wanted.
    const wanted = type.kind === "float" ? (["number"] as const) : [type.kind];
    this.require(arg, this.typeOf(arg, place), wanted, `argument \`${name}\` of \`${procedure}\``);
  }

  private implicitArgument(input: string, optional: boolean, procedure: string, position: number): void {
    if (optional || this.parameters === null || this.parameters.has(input)) return;
    const what = `procedure \`${procedure}\` wants parameter $${input}, which did not come`;
    throw this.mistake(
      position,
      "MissingParameter",
      what,
      "give it, or write the arguments in (…)",
      "ParameterMissing",
    );
  }
}

const isInTransactions = (clause: Clause): boolean => clause.kind === "subquery-call" && clause.transactions !== null;

const isProjection = (clause: Clause): clause is ProjectionClause => clause.kind === "with" || clause.kind === "return";

const ENTITY: readonly StaticKind[] = ["node", "relationship"];

const yieldedFields = ({ yields }: CallClause) => (yields === null || yields === "*" ? [] : yields);

const namesOf = (fields: readonly { readonly name: string }[]): string =>
  fields.length === 0 ? "none" : fields.map(({ name }) => `\`${name}\``).join(", ");
