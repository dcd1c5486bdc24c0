/**
 * What a session remembers between its statements: settings, values of sequences, its schema of temporary relations.
 * It decides what unqualified names mean, and which cached plans fit. Owned by the session.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import { newTemporarySchema, TEMPORARY_ALIAS } from "../catalog/schema.js";
import type { SequenceNumber } from "../catalog/sequence.js";
import type { CallExpr } from "../query/expr/expr.js";
import { pgOidOf } from "../query/expr/types.js";
import type { BindEnvironment } from "../sql/bind/bound-statement.js";
import type { IsolationLevel } from "../sql/parse/ast.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import { ArgumentShapes } from "./argument-shapes.js";
import type { SessionMemory } from "./session-memory.js";
import type { SessionStatements } from "./session-statements.js";
import { Settings } from "./settings.js";
import type { StatementText } from "./statement-run.js";
import type { Tenant } from "./tenant.js";

export class SessionNames implements SessionMemory {
  readonly settings: Settings;
  readonly shapes = new ArgumentShapes();
  sequenceValues: Map<number, SequenceNumber> | null = null;
  lastSequence: number | null = null;
  preparedStatements: SessionStatements | null = null;
  private ownSchema: string | null = null;
  /** Whether something may be in the session's own schema. */
  hasTemporaries = false;

  constructor(
    readonly tenant: Tenant,
    private readonly user: string,
    isolation: IsolationLevel,
    readonly routines: () => RoutineRunner,
  ) {
    this.settings = new Settings(isolation);
  }

  /** The session's schema of temporary relations. */
  get temporarySchema(): string {
    this.ownSchema ??= newTemporarySchema();
    return this.ownSchema;
  }

  /** Under what the plan cache knows the statement: plans of sessions that name things as usual are shared. */
  planKey(text: Omit<StatementText, "params">): string {
    const { kept } = text;
    if (kept === undefined || text.waits === true) return this.keyOf(text);
    const names = this.settings.version * 2 + (this.hasTemporaries ? 1 : 0);
    if (kept.names !== names) {
      kept.names = names;
      kept.key = this.keyOf(text);
    }
    return kept.key;
  }

  private keyOf({ sql, language, graph, waits, declared }: Omit<StatementText, "params">): string {
    const { searchPath } = this.settings;
    if (declared !== undefined) {
      const types = declared.map((type) => (type === null ? "" : `${pgOidOf(type)}/${type.modifier ?? ""}`));
      return `declared\0${types.join()}\0${this.keyOf({ sql, ...(waits && { waits }) })}`;
    }
    if (waits === true) return `waits\0${this.keyOf({ sql, ...(language && { language }), ...(graph && { graph }) })}`;
    if (language !== undefined || graph !== undefined) {
      return `${language ?? ""}\0${graph ?? ""}\0${this.keyOf({ sql })}`;
    }
    if (!this.hasTemporaries && searchPath.length === 1 && searchPath[0] === "public") return sql;
    const own = this.hasTemporaries ? this.temporarySchema : "";
    return `${own}\0${JSON.stringify(this.resolved(searchPath))}\0${sql}`;
  }

  /** The session's temporary relations come first, then the system's, unless the path names them elsewhere. */
  searchPath(_catalog: CatalogView): readonly string[] {
    const path = this.resolved(this.settings.searchPath);
    const system = path.includes("pg_catalog") ? path : ["pg_catalog", ...path];
    if (!this.hasTemporaries || path.includes(this.temporarySchema)) return system;
    return [this.temporarySchema, ...system];
  }

  private resolved(path: readonly string[]): string[] {
    return path.flatMap((name) => {
      if (name === "$user") return [this.user];
      if (name === TEMPORARY_ALIAS) return [this.temporarySchema];
      return [name];
    });
  }

  /** What binding a statement needs to know of the session. */
  environment(
    catalog: CatalogView,
  ): Pick<BindEnvironment, "catalog" | "searchPath" | "timeZone" | "temporarySchema" | "answersAtOnce" | "shapeOf"> {
    const { temporarySchema, answersAtOnce } = this;
    const { timeZone } = this.settings;
    const { shapeOf } = this.shapes;
    return { catalog, searchPath: this.searchPath(catalog), timeZone, temporarySchema, answersAtOnce, shapeOf };
  }

  /** EMBED by a model that the actor itself runs. */
  private readonly answersAtOnce = ({ fn, args: [, model] }: CallExpr): boolean => {
    if (fn.name !== "embed" || (model !== undefined && model.kind !== "const")) return false;
    return this.tenant.partition.models.answersAtOnce(model === undefined ? null : (model.value as string | null));
  };

  discardSequences(): void {
    this.sequenceValues = null;
    this.lastSequence = null;
  }
}
