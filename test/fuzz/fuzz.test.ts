/** Some hundred hostile inputs; `make fuzz MINUTES=30` goes on for longer. FUZZ_SEED repeats a run. */
import t from "tap";
import { tries } from "../lengths.js";
import { Fuzzer } from "./fuzzer.js";

const INPUTS = tries(250);
const SECONDS_MAX = 120;
const seed = Number(process.env.FUZZ_SEED ?? 11);

t.test(`hostile inputs (FUZZ_SEED=${seed})`, async (t) => {
  const fuzzer = await Fuzzer.start({ seed, count: INPUTS, untilMs: Date.now() + SECONDS_MAX * 1000, clients: 4 });
  t.teardown(() => fuzzer.server.stop());
  await fuzzer.run();
  t.same(
    fuzzer.failures.map(({ number, what, input }) => `${number}: ${what} ${JSON.stringify(input)}`),
    [],
  );
  t.ok(fuzzer.sent > 50, `${fuzzer.sent} inputs`);
  t.ok((fuzzer.statuses.get(200) ?? 0) > 0 && (fuzzer.statuses.get(400) ?? 0) > 0, "some work, some do not");
});
