/** Is a statement true, by the texts that are known to be true? */
import { useState } from "preact/hooks";
import { measureText } from "../../lib/format.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { TextArea } from "../../ui/field.js";
import { ListTable } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";

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
  const [error, setError] = useState<unknown>(null);
  const check = async (): Promise<void> => {
    setError(null);
    setAnswer(null);
    const anchors = texts.split("\n").filter((line) => line.trim() !== "");
    try {
      const body = { statement, truth_anchors: anchors };
      const verdict = await client().request<Verdict>("POST", "/v1/ai/nli/verify", { body, idempotencyKey: "" });
      setAnswer({ ...verdict, anchors });
    } catch (failure) {
      setError(failure);
    }
  };
  const score = (value: number | undefined): string =>
    value === undefined ? "" : measureText(Number(value.toFixed(3)));
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
        <Panel
          title="Verdict"
          isFlush
          actions={<Badge tone={TONES[answer.verdict]}>{answer.verdict.replace("_", ", ").toLowerCase()}</Badge>}
        >
          <p class="none">
            {answer.reason} Confidence {score(answer.confidence)}, by {answer.model}.
          </p>
          <ListTable
            label="Scores of each text"
            rows={answer.anchors}
            keyOf={(_, index) => String(index)}
            none=""
            columns={[
              { name: "Text", cell: (anchor) => anchor, isWide: true },
              {
                name: "Contradicts",
                cell: (anchor) => score(answer.all_scores[answer.anchors.indexOf(anchor)]?.[0]),
                isNumber: true,
              },
              {
                name: "Entails",
                cell: (anchor) => score(answer.all_scores[answer.anchors.indexOf(anchor)]?.[1]),
                isNumber: true,
              },
              {
                name: "Neither",
                cell: (anchor) => score(answer.all_scores[answer.anchors.indexOf(anchor)]?.[2]),
                isNumber: true,
              },
            ]}
          />
        </Panel>
      )}
    </>
  );
}
