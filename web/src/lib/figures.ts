/** Figures of a model as people read them. Shares come as 0–1 or as 0–100, as the service has them. */
import { number } from './i18n.svelte';

export const FIRST = ['hit@1', 'hit@5', 'hit@10', 'wup', 'ece', 'queries', 'held_out'];
const PLAIN = ['mr', 'queries', 'held_out', 'concepts', 'count'];

export function isShare(name: string, value: number): boolean {
  return !PLAIN.includes(name) && Math.abs(value) <= 1;
}

export function figure(name: string, value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  if (PLAIN.includes(name)) return number(value, Number.isInteger(value) ? 0 : 1);
  return `${number(isShare(name, value) ? value * 100 : value, 1)} %`;
}
