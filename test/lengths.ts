/** How long tests with random inputs run: docs/architecture/test-lengths.md. */

/** TEST_LENGTH=20 makes them twenty times as long (`make properties LENGTH=20`). */
const LENGTH = Number(process.env.TEST_LENGTH ?? 1);

/** A size or a count: `short` in a whole run of the tests, `full` in a longer one (`make properties`). */
export function sized<T>(short: T, full: T): T {
  return LENGTH > 1 ? full : short;
}

/** How often a property is tried, when a whole run of the tests tries it `count` times. */
export function tries(count: number): number {
  return Math.ceil(count * LENGTH);
}
