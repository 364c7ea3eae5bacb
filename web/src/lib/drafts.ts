/** What somebody has begun for an item and not decided yet; it outlives a reload. */
import type { Changes, Named } from './types';

export interface Draft {
  note?: string;
  changes?: Changes;
  parents?: Named[];
  children?: string[];
}

const PREFIX = 'taxosphere.draft.';

export function readDraft(item: string): Draft {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + item) ?? '{}') as Draft;
  } catch {
    return {};
  }
}

export function writeDraft(item: string, draft: Draft): void {
  const used = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined && value !== ''));
  if (Object.keys(used).length === 0) localStorage.removeItem(PREFIX + item);
  else localStorage.setItem(PREFIX + item, JSON.stringify(used));
}

export function dropDraft(item: string): void {
  localStorage.removeItem(PREFIX + item);
}
