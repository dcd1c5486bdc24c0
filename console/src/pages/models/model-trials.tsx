/** What a training has tried: its leaderboard, and how the score got better. */
import { durationText, roundedText } from "../../lib/format.js";
import { Badge } from "../../ui/button.js";
import { Chart } from "../../ui/chart.js";
import { ListPanel } from "../../ui/list-table.js";
import { Panel } from "../../ui/panel.js";
import { progressOf } from "./curves.js";

export interface Trial {
  readonly trial: number;
  readonly algorithm: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly score: number | null;
  readonly foldScores: readonly number[];
  readonly durationMs: number;
}

interface ModelTrialsProps {
  readonly trials: readonly Trial[];
  readonly metric: string;
  readonly members: readonly { readonly trial?: number; readonly weight: number }[];
}

/** Of the others more is better. */
const LESS_IS_BETTER = /loss|error|rmse|mae|mape|mse|brier/;

export function ModelTrials({ trials, metric, members }: ModelTrialsProps) {
  const isLess = LESS_IS_BETTER.test(metric);
  const scored = trials.filter((one): one is Trial & { score: number } => one.score !== null);
  const ranked = [...scored].sort((a, b) => (isLess ? a.score - b.score : b.score - a.score));
  const others = trials.filter(({ score }) => score === null);
  const weights = new Map(members.map(({ trial, weight }) => [trial, weight]));
  const name = metric.replaceAll("_", " ");
  return (
    <div class="charts">
      <ListPanel
        title="Leaderboard"
        rows={[...ranked, ...others]}
        keyOf={({ trial }) => String(trial)}
        none="No trials are known."
        columns={[
          { name: "Trial", cell: ({ trial }) => trial + 1, isNumber: true },
          {
            name: "Algorithm",
            cell: ({ algorithm, trial, parameters }) => (
              <span class="row" title={JSON.stringify(parameters)}>
                {algorithm.replaceAll("_", " ")} {weights.has(trial) && <Badge tone="accent">used</Badge>}
              </span>
            ),
          },
          { name, cell: ({ score, status }) => (score === null ? status : roundedText(score, 4)), isNumber: true },
          { name: "Between folds", cell: ({ foldScores }) => spreadText(foldScores), isNumber: true },
          { name: "Time", cell: ({ durationMs }) => durationText(durationMs), isNumber: true },
        ]}
      />
      <Panel title={`How the ${name} got better`}>
        {scored.length < 2 ? (
          <p class="muted">A curve needs two trials.</p>
        ) : (
          <div class="small-chart">
            <Chart
              label={`${name} by trial`}
              data={progressOf(
                scored.map(({ score }) => score),
                isLess,
              )}
            />
          </div>
        )}
      </Panel>
    </div>
  );
}

function spreadText(scores: readonly number[]): string {
  if (scores.length === 0) return "";
  return `${roundedText(Math.min(...scores))} – ${roundedText(Math.max(...scores))}`;
}
