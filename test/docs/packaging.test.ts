/** The service that packages install stays locked up: systemd's own judgement of the unit. */
import { spawnSync } from "node:child_process";
import t from "tap";

/** systemd's exposure: 0 is none, 10 is all. */
const EXPOSURE_MAX = 2;

const unit = new URL("../../../packaging/tessera.service", import.meta.url).pathname;
const judged = spawnSync("systemd-analyze", ["security", "--offline=true", unit], { encoding: "utf8" });

t.test("the unit", { skip: judged.error === undefined ? false : "systemd-analyze is not installed" }, (t) => {
  const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(judged.stdout)?.[1]);
  t.ok(exposure <= EXPOSURE_MAX, `${exposure} ${judged.stderr}`);
  t.end();
});
