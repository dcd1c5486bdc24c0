/** What a client should know although nothing failed. Most are plain texts; RAISE and DROP … CASCADE say more. */

export interface NoticeFields {
  readonly message: string;
  /** NOTICE, WARNING or INFO; absent: NOTICE. */
  readonly level?: string;
  /** Absent: that of the level. */
  readonly sqlstate?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly data_type?: string;
  readonly constraint?: string;
}

export type Notice = string | NoticeFields;

export const warning = (message: string, sqlstate: string): NoticeFields => ({ message, level: "WARNING", sqlstate });

export function fieldsOfNotice(notice: Notice): NoticeFields {
  return typeof notice === "string" ? { message: notice } : notice;
}

/** For answers in JSON: a level other than NOTICE stands before the message, detail and hint on lines after it. */
export function noticeText(notice: Notice): string {
  if (typeof notice === "string") return notice;
  const { level = "NOTICE", message, detail, hint } = notice;
  const lines = [level === "NOTICE" ? message : `${level}: ${message}`];
  if (detail !== undefined) lines.push(`DETAIL: ${detail}`);
  if (hint !== undefined) lines.push(`HINT: ${hint}`);
  return lines.join("\n");
}

const CASCADES = "drop cascades to ";
/** More are not named. */
const CASCADES_MAX = 100;

/** Where several objects are dropped with others, one notice stands for all, in the place of the first. */
export function withOneCascade(notices: readonly Notice[]): readonly Notice[] {
  const isCascade = (notice: Notice) => typeof notice === "string" && notice.startsWith(CASCADES);
  const cascades = notices.filter(isCascade) as string[];
  if (cascades.length < 2) return notices;
  const others = cascades.length - CASCADES_MAX;
  const named = others > 0 ? [...cascades.slice(0, CASCADES_MAX), `and ${others} other objects`] : cascades;
  const all = { message: `${CASCADES}${cascades.length} other objects`, detail: named.join("\n") };
  const first = notices.findIndex(isCascade);
  return notices.flatMap((notice, i): Notice[] => (i === first ? [all] : isCascade(notice) ? [] : [notice]));
}
