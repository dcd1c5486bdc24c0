/**
 * What the program's native parts need of a machine. Asked at the start, where something does not load, and by `tessera
 * doctor`.
 */
import { readFileSync } from "node:fs";

export interface Machine {
  /** A version without the letter v. */
  readonly node: string;
  readonly platform: string;
  readonly architecture: string;
  /** Of the C library; undefined: it is another one than glibc. */
  readonly glibc: string | undefined;
  /** Of the processor; undefined: not known. */
  readonly hasAvx2: boolean | undefined;
}

export interface Lack {
  readonly about: "Node" | "system" | "C library" | "processor";
  /** What is missing, and what to do. */
  readonly message: string;
}

/** Versions of Node with binaries of uWebSockets.js, and the glibc that those and RocksDB's need. */
const GLIBC_OF_NODE: Readonly<Record<number, string>> = { 20: "2.34", 22: "2.34", 24: "2.38" };
/** Where uWebSockets.js is the package that has binaries for it, and needs a newer glibc. */
export const NEW_NODE = 24;

/** Takes some milliseconds. */
export function thisMachine(): Machine {
  const { platform, arch: architecture, versions } = process;
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const base = { node: versions.node, platform, architecture, glibc: report.header.glibcVersionRuntime };
  return { ...base, hasAvx2: hasAvx2() };
}

/** Only Linux tells. */
export function hasAvx2(): boolean | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  return /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
}

export const isNodeSupported = (version: string): boolean => majorOf(version) in GLIBC_OF_NODE;

/** Empty where the program can run. */
export function lacksOf({ node, platform, architecture, glibc, hasAvx2: avx2 }: Machine): readonly Lack[] {
  const lacks: Lack[] = [];
  if (!isNodeSupported(node)) lacks.push({ about: "Node", message: nodeAdvice(node) });
  if (!(platform === "linux" && architecture === "x64") && !(platform === "darwin" && architecture === "arm64")) {
    const message = `RocksDB has no binary for ${platform} on ${architecture}; use Linux on x64, or macOS on arm64`;
    lacks.push({ about: "system", message });
  }
  const wanted = GLIBC_OF_NODE[majorOf(node)] ?? GLIBC_OF_NODE[20]!;
  if (platform === "linux" && (glibc === undefined || isBefore(glibc, wanted))) {
    lacks.push({ about: "C library", message: glibcAdvice(node, glibc, wanted) });
  }
  if (avx2 === false) {
    const advice = "run it on a processor with AVX2, or let a virtual machine pass the host's processor through";
    lacks.push({ about: "processor", message: `RocksDB's binary needs AVX2, which this processor has not; ${advice}` });
  }
  return lacks;
}

function nodeAdvice(version: string): string {
  return `Node ${version} is not supported; install Node ${Object.keys(GLIBC_OF_NODE).join(", ")}`;
}

function glibcAdvice(node: string, glibc: string | undefined, wanted: string): string {
  const has = glibc === undefined ? "this is no glibc" : `this is glibc ${glibc}`;
  const systems = wanted === "2.34" ? "Debian 12, Ubuntu 22.04" : "Debian 13, Ubuntu 24.04";
  const older = glibc !== undefined && !isBefore(glibc, "2.34") ? ", or Node 22" : "";
  return `the binaries for Node ${majorOf(node)} need glibc ${wanted}, and ${has}; use ${systems} or later${older}`;
}

const majorOf = (version: string): number => Number.parseInt(version, 10);

function isBefore(version: string, other: string): boolean {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [version, other].map((each) =>
    each.split(".").map(Number),
  ) as [number[], number[]];
  return major === otherMajor ? minor < otherMinor : major < otherMajor;
}
