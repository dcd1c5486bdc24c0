/** Every fixed bound and its unit, in one place. Those that an operator may change are in config/ instead. */

/** Rows of one batch between operators. */
export const BATCH_ROWS = 1024;
/** UTF-8 bytes of one SQL text. */
export const SQL_BYTES_MAX = 100 * 1024;
/** Nesting of one statement's syntax tree. */
export const SQL_DEPTH_MAX = 500;
/** Statements in one batch request. */
export const BATCH_STATEMENTS_MAX = 1000;
/** Positional parameters of one statement (PostgreSQL's bound). */
export const PARAMETERS_MAX = 65_535;
/** Columns of one table. */
export const TABLE_COLUMNS_MAX = 1600;
/** Bytes of an identifier; longer ones are cut, as PostgreSQL does. */
export const IDENTIFIER_BYTES_MAX = 63;
/** Encoded bytes of one storage key. */
export const KEY_BYTES_MAX = 8 * 1024;
/** Encoded bytes of one record. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024;
/** Buffered bytes (keys and values) of one transaction. */
export const TRANSACTION_BYTES_MAX = 256 * 1024 * 1024;
/** Prepared statements kept per tenant. */
export const PREPARED_STATEMENTS_MAX = 1000;
/** Plans kept per actor. */
export const PLAN_CACHE_ENTRIES_MAX = 2000;
