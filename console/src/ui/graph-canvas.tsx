/**
 * Draws a graph, which can be moved, enlarged and taken apart by the pointer. Colours are
 * of labels or groups, sizes of degrees or weights.
 */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { download } from "../lib/download.js";
import { useStore } from "../lib/store.js";
import { theme } from "../lib/theme.js";
import { CanvasTools, moveByKey, TOOLS_HEIGHT, zoomed } from "./canvas-tools.js";
import {
  drawGraph,
  drawOver,
  type GraphColours,
  type GraphView,
  graphColours,
  nodeAt,
  type Shown,
} from "./graph-drawing.js";
import { PAGE_NODES_MAX } from "./graph-forces.js";
import type { GraphModel, GraphNode } from "./graph-model.js";
import { pngOf, svgOf } from "./graph-picture.js";
import { GraphPixels } from "./graph-pixels.js";
import { Menu } from "./menu.js";
import { attempt } from "./toast.js";

interface GraphCanvasProps {
  readonly model: GraphModel;
  /** Grows with every change of the model. */
  readonly version: number;
  readonly selected: GraphNode | null;
  readonly onSelect: (node: GraphNode | null) => void;
  readonly onExpand?: (node: GraphNode) => void;
  /** Nodes that stand out, such as those of a path. Empty: all do. */
  readonly marked?: ReadonlySet<number>;
  /** Another one when groups or weights of nodes have changed. */
  readonly styled?: unknown;
}

const NONE: ReadonlySet<number> = new Set();
/** After the last move of the view, or of its nodes. */
const REST_MS = 150;

export function GraphCanvas({ model, version, selected, onSelect, onExpand, marked, styled }: GraphCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<GraphView>({ x: 0, y: 0, scale: 1, width: 0, height: 0 });
  const colours = useRef<GraphColours | null>(null);
  const isFitted = useRef(true);
  const [hovered, setHovered] = useState<GraphNode | null>(null);
  const shade = useStore(theme);
  const state = useRef({ selected, hovered, marked });
  state.current = { selected, hovered, marked };

  const { draw, drawMoving, restyle, stop } = usePicture(canvas, { model, view, colours, isFitted, state });
  useEffect(() => {
    const sizes = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      view.current = { ...view.current, width, height };
      draw();
    });
    sizes.observe(canvas.current!.parentElement!);
    return () => {
      sizes.disconnect();
      stop();
    };
  }, [model]);
  useEffect(() => {
    restyle();
    model.settle(drawMoving);
    return () => model.stop();
  }, [model, version]);
  useEffect(() => {
    restyle();
    draw();
  }, [shade, marked, styled]);
  useEffect(draw, [selected, hovered]);
  useEffect(() => {
    if (styled !== undefined) model.makeRoom();
  }, [styled]);

  const move = (changed: GraphView): void => {
    isFitted.current = false;
    view.current = changed;
    drawMoving();
  };
  const zoom = (factor: number, at = { left: view.current.width / 2, top: view.current.height / 2 }): void =>
    move(zoomed(view.current, Math.max(0.005, Math.min(6, view.current.scale * factor)), at));
  const pan = (across: number, down: number): void =>
    move({ ...view.current, x: view.current.x + across, y: view.current.y + down });
  const held = useRef<{ node: GraphNode | null; left: number; top: number; hasMoved: boolean } | null>(null);
  return (
    <div class="graph-canvas">
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        aria-label={`A graph of ${model.nodes.length} nodes and ${model.edges.length} relationships. Enter chooses the one in the middle, and again expands it. The list beside it names them.`}
        onWheel={(event) => {
          event.preventDefault();
          zoom(Math.exp(-event.deltaY / 400), { left: event.offsetX, top: event.offsetY });
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const node = nodeAt(model, view.current, event.offsetX, event.offsetY);
          held.current = { node, left: event.offsetX, top: event.offsetY, hasMoved: false };
        }}
        onPointerMove={(event) => {
          const now = held.current;
          if (now === null) {
            setHovered(nodeAt(model, view.current, event.offsetX, event.offsetY));
            return;
          }
          const [across, down] = [event.offsetX - now.left, event.offsetY - now.top];
          if (!now.hasMoved && Math.hypot(across, down) < 4) return;
          const { x, y, scale } = view.current;
          if (now.node === null) pan(across, down);
          else model.hold(now.node, { x: (event.offsetX - x) / scale, y: (event.offsetY - y) / scale });
          held.current = { ...now, left: event.offsetX, top: event.offsetY, hasMoved: true };
        }}
        onPointerUp={() => {
          const now = held.current;
          held.current = null;
          if (now?.node != null) model.hold(now.node, null);
          if (now !== null && !now.hasMoved) onSelect(now.node);
        }}
        onDblClick={() => {
          if (hovered !== null) onExpand?.(hovered);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") moveByKey(event, pan, zoom);
          else if (selected !== null) onExpand?.(selected);
          else onSelect(nodeInTheMiddle(model, view.current));
        }}
      />
      <CanvasTools
        onZoom={zoom}
        onFit={() => {
          isFitted.current = true;
          draw();
        }}
      >
        <SaveMenu canvas={canvas} model={model} colours={colours} />
      </CanvasTools>
    </div>
  );
}

interface PictureState {
  readonly model: GraphModel;
  readonly view: RefObject<GraphView>;
  /** Null: to be found out. */
  readonly colours: RefObject<GraphColours | null>;
  /** The whole graph is to be seen. */
  readonly isFitted: RefObject<boolean>;
  readonly state: RefObject<Shown>;
}

/** Draws the graph, at most once in a frame. */
function usePicture(
  canvas: RefObject<HTMLCanvasElement | null>,
  { model, view, colours, isFitted, state }: PictureState,
) {
  const frame = useRef(0);
  const pixels = useRef<GraphPixels | null>(null);
  const isMoving = useRef(false);
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** With the next frame, however often it is asked for. */
  const draw = (): void => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      const element = canvas.current;
      const isPlaced = model.nodes.at(-1)?.x !== undefined;
      if (element === null || view.current.width === 0 || (!isPlaced && model.nodes.length > 0)) return;
      if (isFitted.current) view.current = fitted(model, view.current);
      colours.current ??= graphColours(element, model.labels());
      if (model.nodes.length <= PAGE_NODES_MAX) {
        drawGraph(element, model, view.current, colours.current, state.current);
        return;
      }
      if (model.places === null) return;
      pixels.current ??= new GraphPixels(element);
      const seen = { colours: colours.current, marked: state.current.marked ?? NONE, isMoving: isMoving.current };
      pixels.current.draw(model.places, model.nodes, view.current, seen);
      const shown = { ...state.current, isMoving: isMoving.current };
      drawOver(element, model, view.current, colours.current, shown);
      // Counted from the end of a picture, which may take longer.
      clearTimeout(rest.current);
      if (isMoving.current) rest.current = setTimeout(drawRest, REST_MS);
    });
  };
  /** There is more to come: some time after the last of it, all is drawn. */
  const drawMoving = (): void => {
    isMoving.current = true;
    clearTimeout(rest.current);
    draw();
  };
  const drawRest = (): void => {
    isMoving.current = false;
    draw();
  };
  /** Colours, groups, weights or marks have changed. */
  const restyle = (): void => {
    colours.current = null;
    pixels.current?.restyle();
  };
  const stop = (): void => {
    cancelAnimationFrame(frame.current);
    clearTimeout(rest.current);
    frame.current = 0;
  };
  return { draw, drawMoving, restyle, stop };
}

interface SaveMenuProps {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly model: GraphModel;
  readonly colours: RefObject<GraphColours | null>;
}

function SaveMenu({ canvas, model, colours }: SaveMenuProps) {
  const save = (ending: "png" | "svg"): void => {
    const element = canvas.current!;
    const shades = colours.current ?? graphColours(element, model.labels());
    void attempt(async () =>
      download(`graph.${ending}`, ending === "png" ? await pngOf(element, shades.ground) : svgOf(model, shades)),
    );
  };
  const entries = [
    { label: "PNG, as it is seen", run: () => save("png") },
    { label: "SVG, all of it", run: () => save("svg") },
  ];
  return <Menu icon="download" label="Save as a picture" kind="plain" isUp entries={entries} />;
}

function nodeInTheMiddle({ nodes }: GraphModel, { x, y, scale, width, height }: GraphView): GraphNode | null {
  const [across, down] = [(width / 2 - x) / scale, (height / 2 - y) / scale];
  let [nearest, least]: [GraphNode | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const node of nodes) {
    const distance = Math.hypot(node.x! - across, node.y! - down);
    if (distance < least) [nearest, least] = [node, distance];
  }
  return nearest;
}

/** Around the outermost nodes, which have names. */
const ROOM = 70;

/** The view in which everything is seen. */
function fitted({ nodes }: GraphModel, view: GraphView): GraphView {
  const placed = nodes.filter(({ x }) => x !== undefined);
  if (placed.length === 0) return { ...view, x: view.width / 2, y: view.height / 2, scale: 1 };
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x = 0, y = 0 } of placed) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  const height = view.height - TOOLS_HEIGHT;
  const scale = Math.min(1.6, (view.width - ROOM) / (right - left + 1), (height - ROOM) / (bottom - top + 1));
  const safe = Math.max(0.005, scale);
  return {
    ...view,
    scale: safe,
    x: view.width / 2 - ((left + right) / 2) * safe,
    y: height / 2 - ((top + bottom) / 2) * safe,
  };
}
