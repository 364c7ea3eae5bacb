/** Figures of a model as people read them. */
import { number } from './i18n.svelte';
import type { Figures, ModelInfo, ModelVersion } from './types';

export const FIRST = ['hit@1', 'hit@5', 'hit@10', 'wup', 'ece', 'hidden'];
const PLAIN = ['hidden'];

/** The error of the probabilities is a share; ranks within k and the like are percents already. */
export function isShare(name: string): boolean {
  return name === 'ece';
}

export function figure(name: string, value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  if (PLAIN.includes(name)) return number(value, Number.isInteger(value) ? 0 : 1);
  return `${number(isShare(name) ? value * 100 : value, 1)} %`;
}

/** A version's own figures; those of the version in use are the model's. */
export function ownFigures(version: ModelVersion, model: ModelInfo): Figures {
  if (version.active) return model.figures;
  const own = (version.figures.new ?? version.figures) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(own).filter(([, value]) => typeof value === 'number')) as Figures;
}

export interface Comparison {
  on: number;
  before: number;
  after: number;
}

/** How often a retrained version and the one before it were right about the same hidden concepts; null without any. */
export function comparison(version: ModelVersion): Comparison | null {
  const { compared_on: on, 'old_hit@1': before, 'new_hit@1': after } = version.figures;
  return typeof on === 'number' && on > 0 && typeof before === 'number' && typeof after === 'number' ? { on, before, after } : null;
}
