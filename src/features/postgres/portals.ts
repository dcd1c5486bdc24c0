/**
 * The extended protocol of one session: its prepared statements and portals by name, and the messages about them. A
 * statement whose rows are fetched in parts is a cursor of the session.
 */
import { sqlError } from "../../protocol/errors.js";
import { PREPARED_STATEMENTS_MAX } from "../../protocol/limits.js";
import { type MessageFields, violation } from "../../protocol/postgres/message-reader.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import { pgOidOf } from "../../query/expr/types.js";
import { isLong, shortened } from "../../session/long-statements.js";
import { requireSame } from "../../session/same-columns.js";
import { UNNAMED_PORTAL } from "../../session/session-cursors.js";
import type { PreparedFacts } from "../../session/session-statements.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import type { KeptKey } from "../../session/statement-run.js";
import { nowMicros } from "../../session/transaction-block.js";
import type { Value } from "../../values/values.js";
import { fromBinary, parameterFromText } from "./binary-values.js";
import { type Formats, formatOf, valueWriters, writeRowDescription, writeRows } from "./row-output.js";
import type { SeenCommits } from "./seen-commits.js";
import { type SpecialStatement, specialOf } from "./special-statement.js";
import { BLANK } from "./split-statements.js";
import { timeoutOf } from "./timeouts.js";
import type { SentText, WireHost } from "./wire-host.js";

/** A statement that Parse made. There is nothing to plan of an empty text, a COPY, a LISTEN. */
interface Prepared extends PreparedFacts {
  readonly special: SpecialStatement | null;
  readonly kept: KeptKey;
  readonly long: SentText["long"];
}

/** A statement with its parameters. */
interface Portal {
  readonly statement: Prepared;
  readonly name: string;
  readonly values: readonly Value[];
  readonly formats: Formats;
  /** Its cursor, once rows were fetched in parts, and what that runs; null: it has not run. */
  cursor: { readonly name: string; readonly plan: StatementPlan } | null;
  hasEnded: boolean;
}

const NO_VALUES: readonly Value[] = [];
const PORTALS_MAX = 10_000;
const STATEMENT = "S".charCodeAt(0);
const PORTAL = "P".charCodeAt(0);

export class Portals {
  private readonly statements = new Map<string, Prepared>();
  private readonly portals = new Map<string, Portal>();
  /** The one without a name, which most clients use alone. */
  private unnamed: Portal | null = null;
  private cursors = 0;

  constructor(private readonly wire: WireHost) {
    wire.session.protocol.shareStatements(this.statements);
  }

  /** Throws 42P05 for a name that is taken. */
  addStatement(name: string, statement: Prepared): void {
    if (name !== "" && this.statements.has(name)) {
      throw sqlError("42P05", `prepared statement "${name}" already exists`);
    }
    if (this.statements.size >= PREPARED_STATEMENTS_MAX) {
      throw sqlError("54000", `a session can have at most ${PREPARED_STATEMENTS_MAX} prepared statements`);
    }
    this.statements.set(name, statement);
  }

  statement(name: string): Prepared {
    const statement = this.statements.get(name);
    if (statement !== undefined) return statement;
    throw sqlError(
      "26000",
      name === "" ? "unnamed prepared statement does not exist" : `prepared statement "${name}" does not exist`,
    );
  }

  /** Throws 42P03 for a name that is taken. */
  addPortal(name: string, portal: Portal): void {
    if (name === "") {
      this.forget("");
      this.unnamed = portal;
      return;
    }
    if (this.portals.has(name)) throw sqlError("42P03", `cursor "${name}" already exists`);
    if (this.portals.size >= PORTALS_MAX) throw sqlError("54000", `a session can have at most ${PORTALS_MAX} portals`);
    this.portals.set(name, portal);
  }

  portal(name: string): Portal {
    const portal = this.find(name);
    if (portal === null) throw sqlError("34000", `portal "${name}" does not exist`);
    return portal;
  }

  private find(name: string): Portal | null {
    return name === "" ? this.unnamed : (this.portals.get(name) ?? null);
  }

  describe(kind: number, name: string): void {
    const { writer } = this.wire;
    if (kind === PORTAL) {
      const declared = this.find(name) === null ? this.wire.session.protocol.columnsOfCursor(name) : null;
      if (declared !== null) {
        writeRowDescription(writer, declared, []);
        return;
      }
      const { statement, formats } = this.portal(name);
      this.writeColumns(statement, formats);
      return;
    }
    if (kind !== STATEMENT) throw violation("Describe is about a statement (S) or a portal (P)");
    const statement = this.statement(name);
    const types = statement.plan?.parameterTypes ?? [];
    writer.begin(BACK.parameterDescription);
    writer.uint16(types.length);
    for (const type of types) writer.uint32(pgOidOf(type));
    writer.end();
    this.writeColumns(statement, []);
  }

  private writeColumns({ plan }: Prepared, formats: Formats): void {
    const { writer } = this.wire;
    const columns = plan === null ? null : this.wire.session.protocol.columnsOf(plan);
    if (columns === null) writer.empty(BACK.noData);
    else writeRowDescription(writer, columns, formats);
  }

  close(kind: number, name: string): void {
    if (kind === STATEMENT) this.statements.delete(name);
    else this.forget(name);
  }

  forget(name: string): void {
    const portal = this.find(name);
    if (portal === null) {
      if (name !== "") this.wire.session.protocol.closeCursor(name);
      return;
    }
    if (portal.cursor !== null) this.wire.session.protocol.closeCursor(portal.cursor.name);
    if (name === "") this.unnamed = null;
    else this.portals.delete(name);
  }

  forgetAll(): void {
    this.forget("");
    if (this.portals.size > 0) for (const name of [...this.portals.keys()]) this.forget(name);
  }

  /** Cursors and portals have their names in common; of the unnamed portal it is one that no statement can say. */
  cursorNameOf(portal: string): string {
    return portal === "" ? `${UNNAMED_PORTAL}${++this.cursors}>` : portal;
  }
}

interface PortalHost extends WireHost {
  readonly portals: Portals;
  readonly seen: Pick<SeenCommits, "isUnknown">;
}

/** Parse: name, text, types of parameters. */
export function parseMessage(wire: PortalHost, fields: MessageFields): void | Promise<void> {
  const name = fields.cstring();
  const sent = fields.cstring();
  wire.runs.sent = sent;
  const oids = Array.from({ length: fields.uint16() }, () => fields.uint32());
  const text = { sql: sent.replace(/;\s*$/, ""), params: NO_VALUES };
  if (!isLong(text)) return prepare(wire, name, text, oids);
  return shortened(text, wire.client.request).then((short) => prepare(wire, name, short, oids));
}

function prepare(wire: PortalHost, name: string, { sql, long }: SentText, oids: readonly number[]): void {
  const special = specialOf(sql);
  const isEmpty = special === null && BLANK.test(sql);
  const plan = isEmpty || special !== null ? null : wire.session.protocol.planAhead({ sql, long }, oids);
  wire.portals.addStatement(name, {
    sql,
    long,
    plan,
    special,
    kept: { key: "", names: -1 },
    preparedMicros: nowMicros(),
  });
  wire.writer.empty(BACK.parseComplete);
}

/** Bind: portal, statement, formats and values of parameters, formats of the result. */
export function bindMessage(wire: PortalHost, fields: MessageFields): void {
  const name = fields.cstring();
  const statement = wire.portals.statement(fields.cstring());
  const sentFormats = formatsIn(fields);
  const count = fields.uint16();
  const types = statement.plan?.parameterTypes ?? [];
  if (count !== types.length) {
    throw sqlError(
      "08P01",
      `bind message supplies ${count} parameters, but prepared statement requires ${types.length}`,
    );
  }
  const { settings } = wire.session;
  const values: Value[] = [];
  for (let i = 0; i < count; i++) {
    const length = fields.int32();
    const bytes = length < 0 ? null : fields.view(length);
    if (bytes === null) values.push(null);
    else if (formatOf(sentFormats, i) === 1) values.push(fromBinary(types[i]!, bytes));
    else values.push(parameterFromText(types[i]!, bytes, settings));
  }
  const formats = formatsIn(fields);
  const portal = { statement, name, values, formats, cursor: null, hasEnded: false };
  wire.portals.addPortal(name, portal);
  // Statements may name it from now on: MOVE, FETCH, CLOSE.
  if (name !== "" && wire.session.inTransaction && canBeFetched(statement.plan)) openCursor(wire, portal);
  wire.writer.empty(BACK.bindComplete);
}

const NO_FORMATS: Formats = [];

function formatsIn(fields: MessageFields): Formats {
  const count = fields.uint16();
  if (count === 0) return NO_FORMATS;
  const formats: number[] = [];
  for (let i = 0; i < count; i++) formats.push(fields.int16());
  return formats;
}

/** Execute: portal, the most rows. */
export function executeMessage(wire: PortalHost, fields: MessageFields): void | Promise<void> {
  const portal = wire.portals.portal(fields.cstring());
  const rowsMax = fields.int32();
  const { statement, formats } = portal;
  const { plan, special } = statement;
  if (special !== null) return wire.special(special, false);
  if (plan === null) {
    wire.writer.empty(BACK.emptyQueryResponse);
    return;
  }
  if (portal.hasEnded) throw sqlError("55000", "portal cannot be run anymore");
  if (portal.cursor !== null || (rowsMax > 0 && canBeFetched(plan))) return fetchPart(wire, portal, rowsMax);
  portal.hasEnded = true;
  return wire.ran(wire.runs.run(textOf(portal, plan), { formats, describes: false, told: toldOf(plan) }));
}

/** The columns of its rows. The shape of EXPLAIN and DECLARE is that of the query in it, whose rows do not come. */
function toldOf({ bound, shape }: StatementPlan): StatementPlan["shape"] {
  return bound.kind === "query" ? shape : null;
}

/** A text without parameters has the plan that everybody has. */
function textOf({ statement: { sql, kept, long }, values }: Portal, { parameterTypes: declared }: StatementPlan) {
  return declared.length === 0 ? { sql, params: NO_VALUES, kept, long } : { sql, params: values, declared, kept, long };
}

/** Queries that change nothing, in parts. What locks rows may have to run again, and is run whole. */
function canBeFetched(plan: StatementPlan | null): boolean {
  if (plan?.bound.kind !== "query") return false;
  const { command, readOnly, locksRows } = plan.bound;
  return command === "select" && readOnly && locksRows !== true;
}

/** Under the role, the search path and the definitions of now. Throws 0A000 where the client was told other columns. */
function openCursor(wire: PortalHost, portal: Portal): NonNullable<Portal["cursor"]> {
  wire.seen.isUnknown();
  const told = portal.statement.plan!;
  const name = wire.portals.cursorNameOf(portal.name);
  const run = {
    ...textOf(portal, told),
    maxRows: Number.MAX_SAFE_INTEGER,
    collector: () => ({ append: () => 0 }),
    request: wire.client,
  };
  const plan = wire.session.protocol.openCursorAnew(name, run, (plan) => {
    requireSame(told.shape!.outputs, plan.shape!.outputs);
    if (canBeFetched(plan)) return;
    throw sqlError("0A000", "the statement changes data or locks rows now, so its rows cannot be fetched in parts", {
      hint: "Prepare the statement again.",
    });
  });
  portal.cursor = { name, plan };
  return portal.cursor;
}

async function fetchPart(wire: PortalHost, portal: Portal, rowsMax: number): Promise<void> {
  const { session, client, writer } = wire;
  // Its rows are of all that was committed when the cursor was opened.
  wire.seen.isUnknown();
  client.begin(timeoutOf(session.settings, client.request));
  if (portal.cursor === null) wire.beginImplicit();
  const { name, plan } = portal.cursor ?? openCursor(wire, portal);
  const writers = valueWriters(plan.shape!, portal.formats, session.settings);
  const wanted = rowsMax > 0 ? rowsMax : Number.MAX_SAFE_INTEGER;
  const take = (batch: Parameters<typeof writeRows>[2]): void => writeRows(writer, writers, batch, batch.length);
  const rows = await session.protocol.fetchCursor(name, wanted, take, client);
  if (rows === wanted) {
    writer.empty(BACK.portalSuspended);
    return;
  }
  portal.hasEnded = true;
  wire.runs.complete(`SELECT ${rows}`);
}
