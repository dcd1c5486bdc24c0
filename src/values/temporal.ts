/**
 * Cypher's temporal values (openCypher 9, "Temporal types"): nanoseconds, and zones that have names. Values of type
 * variant hold them; SQL's dates and times are others (values.ts).
 */

/** Days since 1970-01-01, proleptic Gregorian, years −999,999,999 to 999,999,999. */
export class CypherDate {
  constructor(readonly days: number) {}
}

/** LOCAL TIME: nanoseconds since midnight. */
export class LocalTime {
  constructor(readonly nanos: number) {}
}

/** TIME: nanoseconds since midnight at the offset, in seconds east of UTC. */
export class ZonedTime {
  constructor(
    readonly nanos: number,
    readonly offset: number,
  ) {}
}

/** LOCAL DATETIME: days as in CypherDate, nanoseconds since midnight. */
export class LocalDateTime {
  constructor(
    readonly days: number,
    readonly nanos: number,
  ) {}
}

/**
 * DATETIME: local days and nanoseconds, seconds east of UTC, and the zone's name ("Europe/Stockholm") if it has one.
 */
export class ZonedDateTime {
  constructor(
    readonly days: number,
    readonly nanos: number,
    readonly offset: number,
    readonly zone: string | null,
  ) {}
}

/** DURATION: its parts do not mix; nanos are 0 to 999,999,999. Seconds beyond 2^53 are a bigint. */
export class Duration {
  constructor(
    readonly months: number,
    readonly days: number,
    readonly seconds: number | bigint,
    readonly nanos: number,
  ) {}
}

export type Temporal = CypherDate | LocalTime | ZonedTime | LocalDateTime | ZonedDateTime | Duration;
