/** A map of points, which can be moved and enlarged, and of which a part can be chosen by drawing around it. */
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../lib/store.js";
import { theme } from "../lib/theme.js";
import { Button } from "./button.js";
import { CanvasTools, moveByKey, TOOLS_HEIGHT, zoomed } from "./canvas-tools.js";
import { resolved } from "./chart-drawing.js";
import {
  MapDrawing,
  type MapPalette,
  type MapPoints,
  type MapView,
  pixelOf,
  pointNear,
  pointsWithin,
} from "./map-drawing.js";
import { LassoDrawn, useLasso } from "./use-lasso.js";

interface MapCanvasProps {
  readonly label: string;
  readonly points: MapPoints;
  /** Colours as CSS writes them, such as var(--series-1), by place. */
  readonly colours: readonly string[];
  readonly hovered: number | null;
  readonly onHover: (index: number | null, left: number, top: number) => void;
  readonly onPick: (index: number | null) => void;
  readonly onLasso: (indices: readonly number[]) => void;
}

const REACH = 9;
const ROOM = 24;
const FAINT_ALPHA = 46;

export function MapCanvas({ label, points, colours, hovered, onHover, onPick, onLasso }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<MapDrawing | null>(null);
  const view = useRef<MapView>({ x: 0, y: 0, scale: 1, width: 0, height: 0 });
  const isFitted = useRef(true);
  const palette = useRef<MapPalette | null>(null);
  const frame = useRef(0);
  const lasso = useLasso((outline) => onLasso(pointsWithin(points, view.current, outline)));
  const shade = useStore(theme);
  const shown = useRef({ points, hovered });
  shown.current = { points, hovered };

  const draw = (): void => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      const element = canvas.current;
      if (element === null) return;
      if (isFitted.current) view.current = fitted(view.current);
      palette.current ??= paletteOf(element, colours);
      drawing.current ??= new MapDrawing(element);
      const { points: now, hovered: over } = shown.current;
      const marked = over === null ? now.marked : [...now.marked, over];
      drawing.current.draw({ ...now, marked }, view.current, palette.current, window.devicePixelRatio);
    });
  };
  useEffect(() => {
    const sizes = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      view.current = { ...view.current, width, height };
      draw();
    });
    sizes.observe(canvas.current!.parentElement!);
    return () => {
      sizes.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, []);
  useEffect(() => {
    palette.current = null;
    draw();
  }, [shade, colours.join()]);
  useEffect(draw, [points, hovered]);

  const zoom = (factor: number, at = { left: view.current.width / 2, top: view.current.height / 2 }): void => {
    isFitted.current = false;
    view.current = zoomed(view.current, Math.max(40, Math.min(60_000, view.current.scale * factor)), at);
    draw();
  };
  const pan = (across: number, down: number): void => {
    isFitted.current = false;
    view.current = { ...view.current, x: view.current.x + across, y: view.current.y + down };
    draw();
  };
  const held = useRef<{ left: number; top: number; hasMoved: boolean } | null>(null);
  const move = (event: PointerEvent): void => {
    const [left, top] = [event.offsetX, event.offsetY];
    const now = held.current;
    if (now === null) {
      onHover(pointNear(points, view.current, left, top, REACH), left, top);
      return;
    }
    if (!now.hasMoved && Math.hypot(left - now.left, top - now.top) < 4) return;
    if (lasso.isOn) lasso.grow(left, top);
    else pan(left - now.left, top - now.top);
    held.current = { left, top, hasMoved: true };
  };
  const release = (event: PointerEvent): void => {
    const now = held.current;
    held.current = null;
    if (now === null) return;
    if (!now.hasMoved) onPick(pointNear(points, view.current, event.offsetX, event.offsetY, REACH));
    lasso.end(now.hasMoved);
  };
  return (
    <div class={`map-canvas${lasso.isOn ? " lasso" : ""}`}>
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        aria-label={label}
        onWheel={(event) => {
          event.preventDefault();
          zoom(Math.exp(-event.deltaY / 400), { left: event.offsetX, top: event.offsetY });
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          held.current = { left: event.offsetX, top: event.offsetY, hasMoved: false };
          if (lasso.isOn) lasso.begin(event.offsetX, event.offsetY);
        }}
        onPointerMove={move}
        onPointerUp={release}
        onPointerLeave={() => onHover(null, 0, 0)}
        onKeyDown={(event) => lasso.press(event, view.current) || moveByKey(event, pan, zoom)}
      />
      {lasso.isOn && <LassoDrawn lasso={lasso.drawn} />}
      <CanvasTools
        onZoom={zoom}
        onFit={() => {
          isFitted.current = true;
          draw();
        }}
      >
        <Button
          icon="lasso"
          label="Choose points by drawing around them"
          pressed={lasso.isOn}
          onClick={() => {
            // The keys draw at once.
            if (!lasso.isOn) canvas.current!.focus();
            lasso.toggle();
          }}
        >
          Lasso
        </Button>
      </CanvasTools>
    </div>
  );
}

function fitted(view: MapView): MapView {
  const height = view.height - TOOLS_HEIGHT;
  const scale = Math.max(40, (Math.min(view.width, height) - ROOM * 2) / 2);
  return { ...view, scale, x: view.width / 2, y: height / 2 };
}

function paletteOf(canvas: HTMLCanvasElement, colours: readonly string[]): MapPalette {
  const css = (text: string): string => resolved(canvas, text);
  return {
    byPlace: Uint32Array.from(colours, (colour) => pixelOf(css(colour))),
    faint: pixelOf(css("var(--muted)"), FAINT_ALPHA),
    mark: css("var(--text)"),
  };
}
