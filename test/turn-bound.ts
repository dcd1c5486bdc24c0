/**
 * How long a turn may hold its thread in the tests of turns, in milliseconds of CPU time. The bound of the product is
 * 50; `make turns` holds it on a quiet machine. In a whole run of the tests a busy machine lengthens turns (collections
 * of garbage, a cold cache), so a turn fails only where its time grows out of proportion to its values.
 */
export const TURN_MAX_MS = Number(process.env.TURN_MS ?? 250);
