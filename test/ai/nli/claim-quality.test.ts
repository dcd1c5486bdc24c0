/** nli-mini as it is served, on pairs and claims that nothing was tuned on (`make quality` prints the figures). */
import t from "tap";
import { measureClaims } from "../../../bench/quality/claims.js";

t.test("unrelated anchors, balanced accuracy, wrong contradictions", async (t) => {
  const measured = await measureClaims("held-out");
  t.equal(measured.pairs, 300);
  t.ok(measured.unrelatedCalledFalse <= 0.02, `unrelated called a contradiction: ${measured.unrelatedCalledFalse}`);
  t.ok(measured.balancedAccuracy >= 0.7, `balanced accuracy ${measured.balancedAccuracy}`);
  t.ok(
    measured.wrongContradictions < measured.missedContradictions,
    "a wrong contradiction is rarer than a missed one",
  );
  t.equal(measured.claimsWithUnrelated, measured.claimsAlone, "four unrelated anchors change nothing");
  t.ok(measured.claimsAlone >= 22, `${measured.claimsAlone} of ${measured.claims} claims`);
});
