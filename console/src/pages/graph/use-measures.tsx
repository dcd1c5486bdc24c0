/** Results of algorithms over the whole graph, as colours and sizes of the nodes that are shown. */
import { useMemo, useState } from "preact/hooks";
import { measureText } from "../../lib/format.js";
import { Select } from "../../ui/field.js";
import type { GraphModel, GraphNode } from "../../ui/graph-model.js";
import { attempt } from "../../ui/toast.js";
import { applyGroups, applyWeights, GROUPINGS, type Group, type Measures, WEIGHTS } from "./graph-measures.js";
import type { GraphReader } from "./graph-reader.js";

/** Null: no algorithm was asked. */
interface Found {
  readonly groups: Measures | null;
  readonly weights: Measures | null;
}

type Kind = keyof Found;

export interface GraphStyle {
  /** The names of the algorithms; "": none. */
  readonly chosen: Readonly<Record<Kind, string>>;
  readonly found: Found;
  /** Null: labels have the colours. */
  readonly groups: readonly Group[] | null;
  readonly isBusy: boolean;
  readonly choose: (kind: Kind, name: string) => void;
}

/** Nodes that join the model later get their colours and sizes, too. */
export function useMeasures(reader: GraphReader, model: GraphModel, version: number): GraphStyle {
  const [chosen, setChosen] = useState<Readonly<Record<Kind, string>>>({ groups: "", weights: "" });
  const [found, setFound] = useState<Found>({ groups: null, weights: null });
  const [isBusy, setBusy] = useState(false);
  const groups = useMemo(
    () => applyGroups(model.nodes, found.groups, chosen.groups === "kCore"),
    [model, version, found],
  );
  useMemo(() => applyWeights(model.nodes, found.weights), [model, version, found]);
  const choose = async (kind: Kind, name: string): Promise<void> => {
    setChosen((before) => ({ ...before, [kind]: name }));
    const algorithm = (kind === "groups" ? GROUPINGS : WEIGHTS).find((one) => one.name === name);
    setBusy(true);
    await attempt(async () => {
      const values = algorithm === undefined ? null : await reader.measures(algorithm.name, algorithm.column);
      setFound((before) => ({ ...before, [kind]: values }));
    });
    setBusy(false);
  };
  return {
    ...{ chosen, found, isBusy, groups: found.groups === null ? null : groups },
    choose: (kind, name) => void choose(kind, name),
  };
}

const COLOURS: readonly (readonly [string, string])[] = [["", "Labels"], ...GROUPINGS.map(optionOf)];
const SIZES: readonly (readonly [string, string])[] = [["", "Relationships shown"], ...WEIGHTS.map(optionOf)];

function optionOf({ name, label }: { readonly name: string; readonly label: string }): readonly [string, string] {
  return [name, label];
}

export function StyleSelects({ style: { chosen, choose } }: { readonly style: GraphStyle }) {
  return (
    <>
      <Select
        label="Colour by"
        isBeside
        value={chosen.groups}
        options={COLOURS}
        onChange={(name) => choose("groups", name)}
      />
      <Select
        label="Size by"
        isBeside
        value={chosen.weights}
        options={SIZES}
        onChange={(name) => choose("weights", name)}
      />
    </>
  );
}

/** What algorithms say of a node. */
export function factsOf(node: GraphNode | null, { found, chosen }: GraphStyle): readonly (readonly [string, string])[] {
  const kinds = [["groups", GROUPINGS] as const, ["weights", WEIGHTS] as const];
  return kinds.flatMap(([kind, algorithms]) => {
    const value = node === null ? undefined : found[kind]?.get(node.id);
    const algorithm = algorithms.find(({ name }) => name === chosen[kind]);
    return value === undefined || algorithm === undefined ? [] : [[algorithm.label, measureText(value)] as const];
  });
}
