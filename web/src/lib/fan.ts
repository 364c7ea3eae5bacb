/**
 * The sphere laid flat: the new concept points straight up, every other concept is turned away from it by as much as its
 * meaning differs (to the side on which it lies), and its distance from the centre is its shell.
 */
import type { Sphere, SpherePoint } from './types';

export interface Placed {
  point: SpherePoint;
  x: number;
  y: number;
  /** Radians from straight up, left negative; the order of angles is kept, their sizes are spread to fill the fan. */
  turn: number;
}

export interface Fan {
  query: { x: number; y: number };
  placed: Placed[];
  rings: number[];
}

const WIDEST = (64 * Math.PI) / 180;
const NARROWEST = (9 * Math.PI) / 180;
const EDGE = (86 * Math.PI) / 180;
const CLOSEST = 0.12;

function cross(a: readonly number[], b: readonly number[]): number[] {
  const [ax = 0, ay = 0, az = 0] = a;
  const [bx = 0, by = 0, bz = 0] = b;
  return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0);
}

export function angle(cosine: number): number {
  return Math.acos(Math.max(-1, Math.min(1, cosine)));
}

/** Distance from the centre, in units of the outermost ring; broad concepts keep clear of the very centre. */
export function distance(shell: number): number {
  return CLOSEST + (1 - CLOSEST) * Math.max(0, Math.min(1, shell));
}

const RINGS = [0.25, 0.5, 0.75, 1];
const MOST_RINGS = 6;
const NEAREST = 14;

/** What is worth drawing: few rings, and of the nearest concepts those that are really near. */
export function simplified(sphere: Sphere): Sphere {
  const near = sphere.points.filter((point) => point.kind === 'neighbour').toSorted((a, b) => b.cosine - a.cosine);
  const kept = new Set(near.slice(0, NEAREST).map((point) => point.id));
  const points = sphere.points.map((point) =>
    point.kind === 'neighbour' && !kept.has(point.id) ? { ...point, kind: 'taxonomy' as const } : point,
  );
  return { ...sphere, points, shells: sphere.shells.length > MOST_RINGS ? RINGS : sphere.shells };
}

/** Only for candidates is it known whether the new concept is within their reach. */
export function outOfReach(point: SpherePoint): boolean {
  return point.kind === 'candidate' && !point.gate;
}

export function fan(sphere: Sphere): Fan {
  const up = [sphere.query.x, sphere.query.y, sphere.query.z];
  const helper = Math.abs(up[0] ?? 0) < 0.9 ? [1, 0, 0] : [0, 1, 0];
  const right = cross(up, helper);
  const near = sphere.points.filter((point) => point.kind !== 'taxonomy').map((point) => angle(point.cosine));
  const widest = Math.max(0.05, ...near);
  const least = Math.min(widest - 0.01, ...near);
  const stretch = (WIDEST - NARROWEST) / (widest - least);
  const placed = sphere.points.map((point) => {
    const side = dot([point.x, point.y, point.z], right) < 0 ? -1 : 1;
    const away = angle(point.cosine);
    // Beyond the nearest concepts angles are drawn ever closer together, so that everything stays inside the fan.
    const turn = side * (away <= widest ? NARROWEST + Math.max(0, away - least) * stretch : EDGE - ((EDGE - WIDEST) * widest) / away);
    const far = distance(point.shell);
    return { point, turn, x: Math.sin(turn) * far, y: -Math.cos(turn) * far };
  });
  return { query: { x: 0, y: -distance(sphere.query.shell) }, placed, rings: sphere.shells.map(distance) };
}

/** Labels in groups that stand above each other: those of different groups cannot overlap, whatever their heights. */
export function touching<Label extends { from: number; to: number }>(labels: readonly Label[]): Label[][] {
  const groups: { to: number; labels: Label[] }[] = [];
  for (const label of labels.toSorted((a, b) => a.from - b.from)) {
    const last = groups.at(-1);
    if (last && label.from < last.to) {
      last.labels.push(label);
      last.to = Math.max(last.to, label.to);
    } else groups.push({ to: label.to, labels: [label] });
  }
  return groups.map((group) => group.labels);
}

/** Heights of labels that do not overlap: each is pushed down below the one before it where needed. */
export function spread(wanted: readonly number[], gap: number, least: number, most: number): number[] {
  const order = wanted.map((y, n) => ({ y, n })).sort((a, b) => a.y - b.y);
  let last = least - gap;
  for (const label of order) {
    label.y = Math.max(label.y, last + gap);
    last = label.y;
  }
  let limit = most + gap;
  for (const label of order.toReversed()) {
    label.y = Math.min(label.y, limit - gap);
    limit = label.y;
  }
  const placed = Array<number>(wanted.length).fill(0);
  for (const { y, n } of order) placed[n] = y;
  return placed;
}
