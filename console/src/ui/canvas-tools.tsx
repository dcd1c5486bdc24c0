/** What canvases that can be moved and enlarged have in common: their keys, their buttons, and where a zoom leads. */
import type { ComponentChildren } from "preact";
import { Button } from "./button.js";

interface Zoomable {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

interface Place {
  readonly left: number;
  readonly top: number;
}

/** What is under `at` stays there. */
export function zoomed<V extends Zoomable>(view: V, scale: number, { left, top }: Place): V {
  const moved = scale / view.scale;
  return { ...view, scale, x: left - (left - view.x) * moved, y: top - (top - view.y) * moved };
}

const STEPS: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ...{ ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] },
};

/** Arrows move, + and - change the size. */
export function moveByKey(
  event: KeyboardEvent,
  pan: (across: number, down: number) => void,
  zoom: (factor: number) => void,
): void {
  const step = STEPS[event.key];
  if (step !== undefined) pan(...step);
  else if (event.key === "+") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else return;
  event.preventDefault();
}

/** Of the buttons at the lower edge: where all is to be seen, it stands above them. */
export const TOOLS_HEIGHT = 40;

interface CanvasToolsProps {
  readonly onZoom: (factor: number) => void;
  readonly onFit: () => void;
  readonly children?: ComponentChildren;
}

export function CanvasTools({ onZoom, onFit, children }: CanvasToolsProps) {
  return (
    <div class="graph-tools">
      <Button icon="plus" label="Larger" onClick={() => onZoom(1.3)} />
      <Button icon="minus" label="Smaller" onClick={() => onZoom(1 / 1.3)} />
      <Button label="Show all of it" onClick={onFit}>
        Fit
      </Button>
      {children}
    </div>
  );
}
