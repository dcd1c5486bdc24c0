/** The statements of one session: runs them, and keeps the results that the client has not pulled whole. */

import type { Hints } from "../../cypher/hints/hints.js";
import { hintsOf } from "../../cypher/hints/hints.js";
import { parseCypher } from "../../cypher/parse/parse.js";
import type { BoltVersion } from "../../protocol/bolt/message-tags.js";
import type { NotificationFilter } from "../../protocol/bolt/notification-filter.js";
import type { PackMap } from "../../protocol/bolt/pack-reader.js";
import { malformed } from "../../protocol/bolt/pack-reader.js";
import type { PackValue } from "../../protocol/bolt/pack-writer.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { RESULT_BYTES_MAX } from "../../protocol/limits.js";
import { noticeText } from "../../protocol/notice.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import type { Session } from "../../session/session.js";
import { UNNAMED_PORTAL } from "../../session/session-cursors.js";
import type { GraphStats } from "../../session/sql-result.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import type { StatementRun } from "../../session/statement-run.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";
import type { Transaction } from "../../storage/store.js";
import type { Value } from "../../values/values.js";
import type { WireClient } from "../postgres/wire-client.js";
import { MissingNames } from "./missing-names.js";
import {
  isWanted,
  missingNotifications,
  type Notification,
  notificationOf,
  schemaNotification,
  UNRECOGNIZED,
} from "./notifications.js";
import { CursorRows, KeptRows, type OpenResult, type RowSink } from "./results.js";
import type { TransactionOptions } from "./run-options.js";
import { summaryOf } from "./summary.js";
import type { Dialect } from "./value-writer.js";

/** The session, as its statements see it. */
export interface StatementHost {
  readonly session: Session;
  readonly client: WireClient;
  readonly dialect: Dialect;
  readonly options: { readonly version: BoltVersion };
  /** Of what is committed by now. */
  readonly bookmark: string;
  /** Of a statement by itself. */
  commitPart(tx: Transaction): void;
  committed(): void;
}

export interface SentStatement {
  readonly text: string;
  readonly parameters: PackMap;
  readonly graph: string;
  /** What the client calls it. */
  readonly database: string;
  readonly notifications: NotificationFilter;
}

interface Running {
  readonly rows: OpenResult;
  readonly bound: BoundStatement;
  readonly sent: SentStatement;
  readonly stats: GraphStats | null;
  readonly notices: readonly string[];
  readonly explained: string | null;
  /** It is a transaction by itself. */
  readonly isAlone: boolean;
  readonly startedMs: number;
}

type Facts = { readonly [key: string]: PackValue | undefined };

const RESULTS_MAX = 1000;

export class Statements {
  private readonly results = new Map<number, Running>();
  private numbers = 0;
  private last = -1;

  constructor(private readonly host: StatementHost) {}

  get hasOpen(): boolean {
    return this.results.size > 0;
  }

  /** `options`: of a statement that is a transaction by itself; null: one is open. Answers what RUN's SUCCESS says. */
  async run(sent: SentStatement, options: TransactionOptions | null): Promise<Facts> {
    if (this.results.size >= RESULTS_MAX) {
      throw sqlError("54000", `a transaction can have at most ${RESULTS_MAX} results that are not pulled`);
    }
    const startedMs = performance.now();
    const isAlone = options !== null;
    const running = await this.begun(sent, startedMs, options);
    const qid = isAlone ? 0 : this.numbers++;
    this.results.set(qid, running);
    this.last = qid;
    return {
      fields: running.rows.fieldNames,
      t_first: elapsed(startedMs),
      ...(isAlone ? { db: sent.database } : { qid }),
    };
  }

  private async begun(sent: SentStatement, startedMs: number, options: TransactionOptions | null): Promise<Running> {
    const { session } = this.host;
    const run = this.runOf(sent);
    const isAlone = options !== null;
    this.atWork(sent);
    const plan = isAlone ? this.planAlone(run) : session.protocol.planText(run);
    if (isFetched(plan)) {
      const { client, dialect } = this.host;
      const rows = new CursorRows({ session, client, dialect, number: ++cursors }, plan, run);
      const facts = { stats: null, notices: [], explained: null };
      return { rows, bound: plan.bound, sent, isAlone, startedMs, ...facts };
    }
    if (isAlone) session.rollback();
    if (options?.reads === true) this.requireReading(plan.bound);
    return this.executed(sent, run, startedMs, isAlone);
  }

  /** Reports of what is at work name the statement from here on. */
  private atWork({ text }: SentStatement): void {
    const { client } = this.host;
    client.atStatement(text);
    client.inCypher();
  }

  private runOf({ text, parameters, graph }: Pick<SentStatement, "text" | "parameters" | "graph">): StatementRun {
    const { client } = this.host;
    return {
      sql: text,
      params: Object.fromEntries(parameters),
      language: "cypher",
      graph,
      maxRows: Number.MAX_SAFE_INTEGER,
      collector: () => ({ append: () => 0 }),
      request: client,
    };
  }

  /** In a transaction that changes nothing, which stays open where the statement can be read from a cursor. */
  private planAlone(run: StatementRun): StatementPlan {
    const { session } = this.host;
    for (let attempt = 1; ; attempt++) {
      session.begin({ readOnly: true });
      try {
        return session.protocol.planText(run);
      } catch (error) {
        session.rollback();
        // The default graph was made just now.
        const isLate = error instanceof DbError && error.code === "serialization_failure";
        if (!isLate || attempt > 1) throw error;
      }
    }
  }

  private requireReading(bound: BoundStatement): void {
    const query = bound.kind === "explain" ? bound.statement : bound;
    if (bound.kind === "explain" && !bound.analyze) return;
    if (query.kind === "query" && query.readOnly) return;
    throw new DbError("read_only_transaction", "Writing in read access mode is not allowed.");
  }

  private async executed(
    sent: SentStatement,
    run: StatementRun,
    startedMs: number,
    isAlone: boolean,
  ): Promise<Running> {
    const { session, client, dialect } = this.host;
    const rows = new KeptRows(dialect);
    let bound: BoundStatement | null = null;
    let explained: string | null = null;
    const outcome = await session.execute(
      {
        ...run,
        collector: rows.collector,
        planned: (found) => {
          bound = found;
        },
        explained: (json) => {
          explained = json;
        },
      },
      (tx) => this.host.commitPart(tx),
    );
    if (isAlone) this.host.committed();
    await client.request.linked();
    if (outcome.command !== undefined) rows.discard();
    let keptBytes = rows.keptBytes;
    for (const other of this.results.values()) keptBytes += other.rows.keptBytes;
    // Of several results of one transaction, which then fails.
    if (keptBytes > RESULT_BYTES_MAX) throw resultTooLarge();
    const { stats, notices } = outcome;
    return { rows, bound: bound!, sent, stats, notices: notices.map(noticeText), explained, isAlone, startedMs };
  }

  /** Answers what SUCCESS says. */
  async pull(qid: number, count: number, sink: RowSink | null): Promise<Facts> {
    const number = qid === -1 ? this.last : qid;
    const running = this.results.get(number);
    if (running === undefined) throw malformed(`there is no result with the qid ${qid}`);
    this.atWork(running.sent);
    if (await running.rows.take(count, sink)) return { has_more: true };
    this.results.delete(number);
    running.rows.close();
    const { session, options } = this.host;
    const notifications = await this.notifications(running);
    // It has only read.
    if (running.isAlone && session.inTransaction) session.rollback();
    const { bound, sent, stats, notices, explained, rows, startedMs } = running;
    return {
      ...(running.isAlone && { bookmark: this.host.bookmark }),
      ...summaryOf({
        ...{ bound, stats, notices, notifications, explained, text: sent.text },
        version: options.version,
        database: sent.database,
        hasRows: rows.hasRows,
        hasColumns: rows.fieldNames.length > 0,
        lastMs: elapsed(startedMs),
      }),
    };
  }

  /** What the client wants to know of it, and did not ask. */
  private async notifications({ bound, sent, notices, isAlone }: Running): Promise<readonly Notification[]> {
    const { notifications: filter, text, graph, database } = sent;
    const told = notices.map((notice) => schemaNotification(bound, notice));
    const hints = hintsFor(bound, text);
    told.push(...hints.notes.map(notificationOf));
    if (isWanted(filter, UNRECOGNIZED)) {
      const missing = await this.missingNames.of(hints, graph, isAlone ? this.host.bookmark : null);
      told.push(...missingNotifications(missing, database));
    }
    return told.filter((notification) => isWanted(filter, notification));
  }

  private readonly missingNames = new MissingNames((text, graph) => this.readRow(text, graph), Date.now);

  /** In the transaction that is open, or one of its own. */
  private async readRow(text: string, graph: string): Promise<readonly Value[]> {
    const { session, client } = this.host;
    const isOwn = !session.inTransaction;
    if (isOwn) session.begin({ readOnly: true });
    const run = this.runOf({ text, parameters: NO_PARAMETERS, graph });
    const name = `${UNNAMED_PORTAL}bolt names>`;
    const row: Value[] = [];
    try {
      session.protocol.openCursor(name, session.protocol.planText(run), run);
      await session.protocol.fetchCursor(
        name,
        1,
        ({ columns }) => row.push(...columns.map((column) => column[0]!)),
        client,
      );
    } finally {
      session.protocol.closeCursor(name);
      if (isOwn) session.rollback();
    }
    return row;
  }

  closeAll(): void {
    for (const { rows } of this.results.values()) rows.close();
    this.results.clear();
    this.numbers = 0;
    this.last = -1;
  }
}

let cursors = 0;

const NO_PARAMETERS: PackMap = new Map();

/** A plan is shared by all runs of its text, and so are its hints. */
const HINTS = new WeakMap<BoundStatement, Hints>();

function hintsFor(bound: BoundStatement, text: string): Hints {
  let hints = HINTS.get(bound);
  if (hints === undefined) {
    hints = hintsOf(parseCypher(text), text);
    HINTS.set(bound, hints);
  }
  return hints;
}

/** Queries that change nothing. EXPLAIN and PROFILE are run whole. */
function isFetched({ bound }: StatementPlan): boolean {
  return bound.kind === "query" && bound.readOnly;
}

const elapsed = (startedMs: number): number => Math.round(performance.now() - startedMs);
