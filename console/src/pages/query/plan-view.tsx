/** A plan as a tree: what each step takes, how many rows it gives, and where the time goes. */
import { useMemo } from "preact/hooks";
import { bytesText, countText, durationText, percentText, shortCount } from "../../lib/format.js";
import { Badge } from "../../ui/button.js";
import { Notice } from "../../ui/notice.js";
import { misjudgement, ownMs, type Plan, type PlanNode, planOf } from "./plan.js";
import type { Language } from "./split.js";

/** A step that takes this share of the time is marked. */
const HOT = 0.3;
const MISJUDGED = 10;

interface Line {
  readonly node: PlanNode;
  readonly depth: number;
  readonly key: string;
}

function linesOf(node: PlanNode, depth = 0, key = "0"): readonly Line[] {
  return [{ node, depth, key }, ...node.parts.flatMap((part, i) => linesOf(part, depth + 1, `${key}.${i}`))];
}

interface PlanViewProps {
  readonly rows: readonly (readonly unknown[])[];
  readonly language: Language;
}

export function PlanView({ rows, language }: PlanViewProps) {
  const plan = useMemo(() => planOf(rows, language), [rows, language]);
  if (plan === null) return <Notice tone="warn">The plan could not be read.</Notice>;
  const lines = linesOf(plan.root);
  const isMeasured = plan.root.ms !== null;
  return (
    // A region that scrolls has to take the focus, so that arrows can scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class="plan" tabIndex={0} aria-label="Plan">
      <Totals plan={plan} isMeasured={isMeasured} />
      <table class="plan-table">
        <thead>
          <tr>
            <th scope="col">Step</th>
            {isMeasured && <th scope="col">Own time</th>}
            <th scope="col" class="number">
              {isMeasured ? "Rows" : "Estimated rows"}
            </th>
            {isMeasured && <th scope="col">Estimate</th>}
            {isMeasured && (
              <th scope="col" class="number">
                Memory
              </th>
            )}
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Step key={line.key} line={line} plan={plan} isMeasured={isMeasured} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Totals({ plan, isMeasured }: { readonly plan: Plan; readonly isMeasured: boolean }) {
  if (!isMeasured) return <p class="muted plan-totals">What the optimizer expects. “Analyze” measures it.</p>;
  return (
    <p class="plan-totals">
      {plan.ms !== null && <Badge tone="accent">{durationText(plan.ms)}</Badge>}
      {plan.kilobytes !== null && <Badge>{bytesText(plan.kilobytes * 1000)} at most</Badge>}
      <span class="muted">Own time is that of a step without the steps below it.</span>
    </p>
  );
}

interface StepProps {
  readonly line: Line;
  readonly plan: Plan;
  readonly isMeasured: boolean;
}

function Step({ line: { node, depth }, plan, isMeasured }: StepProps) {
  const own = ownMs(node);
  const total = plan.root.ms ?? plan.ms ?? 0;
  const share = own === null || total === 0 ? 0 : Math.min(1, own / total);
  const isHot = share >= HOT;
  return (
    <tr class={isHot ? "hot" : undefined}>
      <th scope="row" style={{ paddingLeft: `${14 + depth * 20}px` }}>
        <span class="plan-name">
          {node.name} {isHot && <Badge tone="bad">Hot spot</Badge>}
        </span>
        {node.details.map(([name, value]) => (
          <span key={name} class="plan-detail">
            {name}: <code>{value}</code>
          </span>
        ))}
      </th>
      {isMeasured && (
        <td class="plan-time">
          <span class="plan-bar" style={{ width: `${Math.max(share * 100, 1)}%` }} />
          <span class="number">
            {durationText(own)} · {percentText(share)}
          </span>
        </td>
      )}
      <td class="number">
        {shortCount(node.rows ?? node.estimated ?? 0)}
        {(node.loops ?? 1) > 1 && ` × ${countText(node.loops!)}`}
      </td>
      {isMeasured && <Estimate node={node} />}
      {isMeasured && <td class="number">{node.kilobytes === null ? "" : bytesText(node.kilobytes * 1000)}</td>}
      <td class="number muted">{node.cost === null ? "" : shortCount(node.cost)}</td>
    </tr>
  );
}

function Estimate({ node }: { readonly node: PlanNode }) {
  const off = misjudgement(node);
  if (off === null) return <td />;
  const told = `${shortCount(node.estimated!)} expected`;
  return (
    <td>
      {off >= MISJUDGED ? (
        <Badge tone="warn">{`${told}, ${shortCount(off)}× off`}</Badge>
      ) : (
        <span class="muted">{told}</span>
      )}
    </td>
  );
}
