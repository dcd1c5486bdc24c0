/** Cypher's points: a reference system and two or three coordinates. Values of type variant hold them. */

export class CypherPoint {
  constructor(
    readonly srid: number,
    /** Longitude, in degrees, in the geographic systems. */
    readonly x: number,
    readonly y: number,
    /** Of systems with three coordinates; else null. */
    readonly z: number | null,
  ) {}
}

export interface ReferenceSystem {
  readonly srid: number;
  readonly name: string;
  readonly isGeographic: boolean;
  readonly dimensions: 2 | 3;
}

export const REFERENCE_SYSTEMS: readonly ReferenceSystem[] = [
  { srid: 4326, name: "wgs-84", isGeographic: true, dimensions: 2 },
  { srid: 4979, name: "wgs-84-3d", isGeographic: true, dimensions: 3 },
  { srid: 7203, name: "cartesian", isGeographic: false, dimensions: 2 },
  { srid: 9157, name: "cartesian-3d", isGeographic: false, dimensions: 3 },
];

const BY_SRID = new Map(REFERENCE_SYSTEMS.map((system) => [system.srid, system]));

/** Of a point that was made. */
export const systemOf = ({ srid }: CypherPoint): ReferenceSystem => BY_SRID.get(srid)!;

/** Null: there is none with that number and so many coordinates. */
export function systemWith(srid: number, dimensions: number): ReferenceSystem | null {
  const system = BY_SRID.get(srid);
  return system?.dimensions === dimensions ? system : null;
}

/** What `point()` takes back. */
export function pointToText(point: CypherPoint): string {
  const parts = [`x: ${withPoint(point.x)}`, `y: ${withPoint(point.y)}`];
  if (point.z !== null) parts.push(`z: ${withPoint(point.z)}`);
  return `point({${parts.join(", ")}, crs: '${systemOf(point).name}'})`;
}

const withPoint = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

/** For answers. */
export function pointMembers({ srid, x, y, z }: CypherPoint): { srid: number; x: number; y: number; z?: number } {
  return z === null ? { srid, x, y } : { srid, x, y, z };
}

/** A total order: by system, then by coordinates; equal points only are 0. */
export function comparePoints(a: CypherPoint, b: CypherPoint): number {
  return a.srid - b.srid || a.x - b.x || a.y - b.y || (a.z ?? 0) - (b.z ?? 0);
}

/** Equal for two points exactly when `comparePoints` gives 0. */
export const pointKey = ({ srid, x, y, z }: CypherPoint): string => `${srid},${x + 0},${y + 0},${(z ?? 0) + 0}`;

/** A longitude within ±180 degrees. */
export function wrappedLongitude(longitude: number): number {
  if (Math.abs(longitude) <= 180) return longitude;
  return ((((longitude + 180) % 360) + 360) % 360) - 180;
}
