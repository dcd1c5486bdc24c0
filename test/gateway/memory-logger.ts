/** A logger whose lines a test can read. */
import { type Logger, pino } from "pino";

export type LogLines = Record<string, unknown>[];

export function memoryLogger(): { logger: Logger; lines: LogLines } {
  const lines: LogLines = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { logger, lines };
}
