/**
 * Minimum of a smooth convex function by limited-memory BFGS (Nocedal and Wright, "Numerical Optimization", algorithm
 * 7.5). No state.
 */

const MEMORY = 10;

/** `evaluate` fills the gradient at `point` and returns the value. `point` is moved to the minimum. */
export function minimise(
  point: Float64Array,
  evaluate: (point: Float64Array, gradient: Float64Array) => number,
  options: { readonly stepsMax: number; readonly tolerance: number },
): void {
  const size = point.length;
  let gradient = new Float64Array(size);
  let nextGradient = new Float64Array(size);
  const next = new Float64Array(size);
  const steps: Float64Array[] = [];
  const changes: Float64Array[] = [];
  let value = evaluate(point, gradient);
  for (let step = 0; step < options.stepsMax; step++) {
    if (largest(gradient) <= options.tolerance) return;
    const direction = descent(gradient, steps, changes);
    let slope = dot(direction, gradient);
    if (!(slope < 0)) {
      for (let i = 0; i < size; i++) direction[i] = -gradient[i]!;
      slope = -dot(gradient, gradient);
      steps.length = 0;
      changes.length = 0;
    }
    // Halved until the value falls as the slope promises (Armijo).
    let length = step === 0 ? Math.min(1, 1 / Math.sqrt(-slope)) : 1;
    let nextValue = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 30; attempt++, length /= 2) {
      for (let i = 0; i < size; i++) next[i] = point[i]! + length * direction[i]!;
      nextValue = evaluate(next, nextGradient);
      if (nextValue <= value + 1e-4 * length * slope) break;
    }
    if (!(nextValue < value)) return;
    const moved = direction.map((part) => length * part);
    const changed = nextGradient.map((part, i) => part - gradient[i]!);
    if (dot(moved, changed) > 1e-12 * dot(changed, changed)) {
      steps.push(moved);
      changes.push(changed);
      if (steps.length > MEMORY) {
        steps.shift();
        changes.shift();
      }
    }
    point.set(next);
    value = nextValue;
    [gradient, nextGradient] = [nextGradient, gradient];
  }
}

/** Two-loop recursion (algorithm 7.4 there). */
function descent(
  gradient: Float64Array,
  steps: readonly Float64Array[],
  changes: readonly Float64Array[],
): Float64Array {
  const direction = gradient.map((part) => -part);
  const weights = new Float64Array(steps.length);
  for (let i = steps.length - 1; i >= 0; i--) {
    weights[i] = dot(steps[i]!, direction) / dot(steps[i]!, changes[i]!);
    add(direction, changes[i]!, -weights[i]!);
  }
  if (steps.length > 0) {
    const last = changes[changes.length - 1]!;
    const scale = dot(steps[steps.length - 1]!, last) / dot(last, last);
    for (let i = 0; i < direction.length; i++) direction[i]! *= scale;
  }
  for (let i = 0; i < steps.length; i++) {
    const back = dot(changes[i]!, direction) / dot(steps[i]!, changes[i]!);
    add(direction, steps[i]!, weights[i]! - back);
  }
  return direction;
}

function add(to: Float64Array, from: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i]! += factor * from[i]!;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function largest(values: Float64Array): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}
