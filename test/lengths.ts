/** How long tests with random inputs run: docs/architecture/test-lengths.md. */

/** TEST_LENGTH=20 makes them twenty times as long (`make properties LENGTH=20`). */
const LENGTH = Number(process.env.TEST_LENGTH ?? 1);

/** How often a property is tried, when a whole run of the tests tries it `count` times. */
export function tries(count: number): number {
  return Math.ceil(count * LENGTH);
}
