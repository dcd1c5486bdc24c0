/** Clauses that write: CREATE, MERGE, SET, REMOVE, DELETE, FOREACH. Extended by `queries.ts`. */
import type {
  Clause,
  CreateClause,
  DeleteClause,
  DynamicLabel,
  Expr,
  ForeachClause,
  LabelTest,
  MergeClause,
  RemoveItem,
  SetItem,
} from "./ast.js";
import { POSTFIX } from "./expressions.js";
import { PatternParser } from "./patterns.js";
import { type WrongPattern, wrongInCreate, wrongInMerge } from "./written-patterns.js";

export abstract class WritingParser extends PatternParser {
  protected writingClause(position: number): Clause | null {
    const { keyword } = this;
    switch (keyword) {
      case "CREATE":
        this.at++;
        return this.create(position);
      case "MERGE":
        return this.merge(position);
      case "SET":
        this.at++;
        return { kind: "set", items: this.commaList(() => this.setItem()), position };
      case "REMOVE":
        this.at++;
        return { kind: "remove", items: this.commaList(() => this.removeItem()), position };
      case "INSERT":
        if (this.kinds[this.at + 1] !== "(" && this.kinds[this.at + 2] !== "=") return null;
        this.at++;
        return this.create(position);
      case "DETACH":
      case "NODETACH":
      case "DELETE":
        return this.delete(position);
      case "FOREACH":
        return this.kinds[this.at + 1] === "(" ? this.foreach(position) : null;
      default:
        return null;
    }
  }

  private create(position: number): CreateClause {
    const patterns = this.commaList(() => this.path());
    this.refuse(wrongInCreate(patterns));
    return { kind: "create", patterns, position };
  }

  protected refuse(wrong: WrongPattern | null): void {
    if (wrong !== null) throw this.error(wrong.position, wrong.detail, wrong.message);
  }

  private merge(position: number): MergeClause {
    this.at++;
    const pattern = this.path();
    this.refuse(wrongInMerge(pattern));
    const onCreate: SetItem[] = [];
    const onMatch: SetItem[] = [];
    while (this.acceptKeyword("ON")) {
      const items = this.keyword === "CREATE" ? onCreate : onMatch;
      if (!this.acceptKeyword("CREATE") && !this.acceptKeyword("MATCH")) throw this.expected("CREATE or MATCH");
      this.expectKeyword("SET");
      items.push(...this.commaList(() => this.setItem()));
    }
    return { kind: "merge", pattern, onCreate, onMatch, position };
  }

  private setItem(): SetItem {
    const position = this.position();
    const target = this.expression(POSTFIX);
    if (target.kind === "property" || target.kind === "index") {
      this.expect("=");
      return { kind: "set-property", target, value: this.expression(), position };
    }
    if (target.kind === "label-test") return this.labelItem(target, position);
    if (target.kind !== "variable") {
      throw this.error(position, "UnexpectedSyntax", "expected a variable, a property or labels to set");
    }
    if (this.accept("=")) return { kind: "replace", variable: target, value: this.expression(), position };
    if (this.accept("+=")) return { kind: "add", variable: target, value: this.expression(), position };
    const labels = this.labelsAfterIs(target);
    if (labels !== null) return this.labelItem(labels, position);
    throw this.expected(`"=", "+=", "." or ":"`);
  }

  private removeItem(): RemoveItem {
    const position = this.position();
    const target = this.expression(POSTFIX);
    if (target.kind === "property" || target.kind === "index") return { kind: "remove-property", target, position };
    const labels = this.labelsAfterIs(target);
    if (labels !== null) return this.labelItem(labels, position);
    if (target.kind === "label-test") return this.labelItem(target, position);
    throw this.error(position, "UnexpectedSyntax", "expected a property or labels to remove");
  }

  private labelItem({ target, labels }: LabelTest, position: number): RemoveItem & SetItem {
    const all = labels.kind === "and-labels" ? labels.operands : [labels];
    const names: string[] = [];
    const dynamic: DynamicLabel[] = [];
    for (const label of all) {
      if (label.kind === "label") names.push(label.name);
      else if (label.kind === "dynamic-label" && !label.any) dynamic.push(label);
      else throw this.error(label.position, "UnexpectedSyntax", "expected a label's name");
    }
    if (target.kind !== "variable")
      throw this.error(position, "UnexpectedSyntax", "expected a variable before its labels");
    return { kind: "labels", variable: target, labels: names, dynamic, position };
  }

  /** `n IS Label`. */
  private labelsAfterIs(target: Expr): LabelTest | null {
    const position = this.position();
    if (!this.acceptKeyword("IS")) return null;
    return { kind: "label-test", target, labels: this.labels(false, false), position };
  }

  private delete(position: number): DeleteClause {
    const detach = this.acceptKeyword("DETACH");
    if (!detach) this.acceptKeyword("NODETACH");
    this.expectKeyword("DELETE");
    const targets = this.commaList(() => this.expression());
    const labels = targets.find(({ kind }) => kind === "label-test");
    if (labels === undefined) return { kind: "delete", detach, targets, position };
    throw this.error(labels.position, "InvalidDelete", "labels and types cannot be deleted: REMOVE takes labels away");
  }

  private foreach(position: number): ForeachClause {
    this.enter();
    this.at += 2;
    const variable = this.variable();
    this.expectKeyword("IN");
    const list = this.inner(true);
    this.expect("|");
    const clauses: Clause[] = [];
    for (
      let clause = this.writingClause(this.position());
      clause !== null;
      clause = this.writingClause(this.position())
    ) {
      clauses.push(clause);
    }
    if (clauses.length === 0) throw this.expected("a clause that writes");
    this.expect(")");
    this.leave();
    return { kind: "foreach", variable, list, clauses, position };
  }
}
