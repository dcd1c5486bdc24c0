/** Is a statement true, by the texts that are known to be true? */
import { useState } from "preact/hooks";
import { scoreText } from "../../lib/format.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { TextArea } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";

interface Verdict {
  readonly verdict: "TRUTH" | "LIE" | "UNVERIFIED_PLAUSIBLE";
  readonly reason: string;
  readonly confidence: number;
  readonly model: string;
  readonly all_scores: readonly (readonly [contradiction: number, entailment: number, neutral: number])[];
}

const TONES = { TRUTH: "good", LIE: "bad", UNVERIFIED_PLAUSIBLE: "warn" } as const;

export function Claims() {
  const [statement, setStatement] = useState("The museum is closed on Mondays.");
  const [texts, setTexts] = useState("The museum is open on Mondays.\nThe street is wet.");
  const [answer, setAnswer] = useState<(Verdict & { readonly anchors: readonly string[] }) | null>(null);
  const { error, run } = useRun();
  const check = (): Promise<boolean> =>
    run(async () => {
      setAnswer(null);
      const anchors = texts.split("\n").filter((line) => line.trim() !== "");
      const body = { statement, truth_anchors: anchors };
      const verdict = await client().request<Verdict>("POST", "/v1/ai/nli/verify", { body, idempotencyKey: "" });
      setAnswer({ ...verdict, anchors });
    });
  return (
    <>
      <div class="charts">
        <TextArea label="The claim" value={statement} rows={5} onInput={setStatement} />
        <TextArea label="What is known to be true, a text a line" value={texts} rows={5} onInput={setTexts} />
      </div>
      <div>
        <Button kind="primary" onClick={() => void check()}>
          Check
        </Button>
      </div>
      <Failure error={error} />
      {answer !== null && (
        <ListPanel
          title="Verdict"
          actions={<Badge tone={TONES[answer.verdict]}>{answer.verdict.replace("_", ", ").toLowerCase()}</Badge>}
          label="Scores of each text"
          rows={answer.anchors}
          keyOf={(_, index) => String(index)}
          none=""
          columns={[
            { name: "Text", cell: (anchor) => anchor, isWide: true },
            {
              name: "Contradicts",
              cell: (anchor) => scoreText(answer.all_scores[answer.anchors.indexOf(anchor)]?.[0]),
              isNumber: true,
            },
            {
              name: "Entails",
              cell: (anchor) => scoreText(answer.all_scores[answer.anchors.indexOf(anchor)]?.[1]),
              isNumber: true,
            },
            {
              name: "Neither",
              cell: (anchor) => scoreText(answer.all_scores[answer.anchors.indexOf(anchor)]?.[2]),
              isNumber: true,
            },
          ]}
        >
          <p class="none">
            {answer.reason} Confidence {scoreText(answer.confidence)}, by {answer.model}.
          </p>
        </ListPanel>
      )}
    </>
  );
}
