/** `make torture ROUNDS=100 [SEED=1]`: prints what each round found; ends with 1 when there was anything. */
import { Torture } from "./torture.js";

const rounds = Number(process.env.ROUNDS || 100);
const torture = await Torture.start(Number(process.env.SEED || 1));
if (torture.disk === null)
  console.log("no file system can be mounted by this user: rounds with a full disk are left out");
const kinds = new Map<string, number>();
let failed = 0;
let last = { acknowledged: 0, refused: 0 };
for (let round = 1; round <= rounds; round++) {
  const { kind, problems, ...sums } = await torture.round(torture.kindOf(round));
  last = sums;
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  if (problems.length > 0) failed++;
  for (const problem of problems) console.log(`round ${round}, ${kind}: ${problem}`);
  if (round % 10 === 0) console.log(`${round} rounds, ${failed} failed, ${sums.acknowledged} writes acknowledged`);
}
await torture.stop();
const counts = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(", ");
console.log(
  `${rounds} rounds (${counts}): ${failed} failed; ${last.acknowledged} writes acknowledged, ${last.refused} refused`,
);
process.exit(failed === 0 ? 0 : 1);
