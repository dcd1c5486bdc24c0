/** The lasso of a map, which is drawn with a pointer or by keys, and how it looks. */
import { useState } from "preact/hooks";
import { type Lasso, lassoByKey, lassoHint, NO_LASSO } from "./lasso.js";
import type { Outline } from "./map-drawing.js";

interface LassoTool {
  readonly isOn: boolean;
  readonly drawn: Lasso;
  readonly toggle: () => void;
  readonly begin: (left: number, top: number) => void;
  readonly grow: (left: number, top: number) => void;
  /** The pointer is let go. */
  readonly end: (hasMoved: boolean) => void;
  /** Gives whether the key was for it. */
  readonly press: (event: KeyboardEvent, size: { readonly width: number; readonly height: number }) => boolean;
}

/** `choose` gets each outline that is whole. */
export function useLasso(choose: (outline: Outline) => void): LassoTool {
  const [isOn, setOn] = useState(false);
  const [drawn, setDrawn] = useState(NO_LASSO);
  return {
    isOn,
    drawn,
    toggle: () => {
      setOn(!isOn);
      setDrawn(NO_LASSO);
    },
    begin: (left, top) => setDrawn({ corners: [[left, top]], cross: null }),
    grow: (left, top) => setDrawn(({ corners }) => ({ corners: [...corners, [left, top]], cross: null })),
    end: (hasMoved) => {
      if (!isOn) return;
      if (hasMoved) choose(drawn.corners);
      setDrawn(NO_LASSO);
    },
    press: (event, size) => {
      const step = isOn ? lassoByKey(drawn, event, size) : null;
      if (step === null) return false;
      event.preventDefault();
      if ("outline" in step) choose(step.outline);
      setDrawn("outline" in step ? NO_LASSO : step.lasso);
      return true;
    },
  };
}

/** The outline as far as it is drawn, and what to do next. */
export function LassoDrawn({ lasso }: { readonly lasso: Lasso }) {
  const { corners, cross } = lasso;
  return (
    <>
      <svg class="map-outline" aria-hidden="true">
        <polygon points={corners.map((corner) => corner.join(",")).join(" ")} />
        {cross !== null && (
          <>
            {corners.map(([left, top], i) => (
              <circle key={i} cx={left} cy={top} r="4" />
            ))}
            <path d={`M${cross[0] - 12} ${cross[1]}h24M${cross[0]} ${cross[1] - 12}v24`} />
          </>
        )}
      </svg>
      <p class="map-hint" role="status">
        Draw around points. {lassoHint(lasso)}
      </p>
    </>
  );
}
