import { beforeEach, describe, expect, it } from 'vitest';

import { Choice } from '../src/lib/choice.svelte';
import { Items } from '../src/lib/items';
import { EVERYTHING, Queue } from '../src/lib/queue.svelte';
import { TreeModel, type Source } from '../src/lib/tree.svelte';
import type { ConceptRow, ItemDetail, ItemRow, QueuePage } from '../src/lib/types';

const row = (n: number, state: ItemRow['state'] = 'open'): ItemRow => ({
  id: `i${n}`, name: `concept ${n}`, state, best: null, none_probability: 0, assignee: null, version: 1, decided_by: null, decided_at: null,
});

function pages(count: number): (query: Record<string, string | number>) => Promise<QueuePage> {
  return async ({ cursor, limit }) => {
    const from = Number(cursor ?? 0);
    const to = Math.min(count, from + Number(limit));
    const items = Array.from({ length: to - from }, (_, n) => row(from + n));
    return { items, next: to < count ? String(to) : null, counts: { open: count, accepted: 0, moved: 0, top: 0, same: 0, rejected: 0, later: 0 } };
  };
}

beforeEach(() => localStorage.clear());

describe('the queue', () => {
  it('loads pages until a row is there, and no further', async () => {
    const queue = new Queue(pages(10_000));
    await queue.reload(EVERYTHING);
    expect(queue.ids).toHaveLength(200);
    await queue.ensure(450);
    expect(queue.ids).toHaveLength(600);
    expect(queue.total).toBe(10_000);
  });
  it('reads everything again without losing rows that had been scrolled to', async () => {
    const queue = new Queue(pages(10_000));
    await queue.reload();
    await queue.ensure(750);
    queue.put(row(700, 'accepted'));
    await queue.refresh();
    expect(queue.ids.length).toBeGreaterThanOrEqual(800);
    expect(queue.place('i700')).toBe(700);
    expect(queue.row('i700')?.state).toBe('open');
  });
  it('counts what is decided and finds the next open row, also before the current one', async () => {
    const queue = new Queue(pages(3));
    await queue.reload();
    queue.put(row(1, 'accepted'));
    expect([queue.counts.open, queue.counts.accepted]).toEqual([2, 1]);
    expect(queue.nextOpen('i0')).toBe('i2');
    queue.put(row(2, 'rejected'));
    expect(queue.nextOpen('i2')).toBe('i0');
    queue.put(row(0, 'later'));
    expect(queue.nextOpen('i0')).toBeNull();
  });
  it('drops the answer to a filter that was changed meanwhile', async () => {
    const waiting: ((page: QueuePage) => void)[] = [];
    const queue = new Queue(() => new Promise((resolve) => waiting.push(resolve)));
    const first = queue.reload({ ...EVERYTHING, query: 'old' });
    const second = queue.reload({ ...EVERYTHING, query: 'new' });
    const [old, fresh] = [await pages(1)({ limit: 5 }), await pages(2)({ limit: 5 })];
    waiting[1]?.(fresh);
    waiting[0]?.(old);
    await Promise.all([first, second]);
    expect(queue.ids).toHaveLength(2);
  });
});

describe('details of items', () => {
  it('are asked for once, however many want them, and again after they changed', async () => {
    let asked = 0;
    const items = new Items(async (id) => {
      asked += 1;
      return { ...row(0), id } as unknown as ItemDetail;
    });
    await Promise.all([items.fetch('a'), items.fetch('a')]);
    items.ahead(['a']);
    expect(asked).toBe(1);
    items.forget('a');
    await items.fetch('a');
    expect(asked).toBe(2);
  });
});

describe('a choice', () => {
  const suggestion = (id: string, probability: number) => ({ id, name: id, path: [], probability, score: 0, cosine: 0, gate: true, siblings: [], reasons: {} });
  const detail = (parents: string[]): ItemDetail => ({
    ...row(1), concept: { name: 'x', definition: '', synonyms: [] }, history: [],
    suggestions: { none_probability: 0.1, parents, already: [], suggestions: [suggestion('a', 0.6), suggestion('b', 0.35), suggestion('c', 0.05)] },
    insertions: [{ parent: { id: 'a', name: 'a' }, children: [{ id: 'k', name: 'k', probability: 0.8 }, { id: 'l', name: 'l', probability: 0.2 }] }],
  });
  it('begins with the best parent and those the model is fairly sure of as well', () => {
    expect(new Choice(detail(['a'])).chosen.map((parent) => parent.id)).toEqual(['a']);
    expect(new Choice(detail(['a', 'b', 'c'])).chosen.map((parent) => parent.id)).toEqual(['a', 'b']);
  });
  it('is an acceptance with the best parent, a move with others, a rejection with none', () => {
    const choice = new Choice(detail(['a']));
    expect(choice.decision).toEqual({ kind: 'accept', parents: ['a'] });
    choice.toggle({ id: 'c', name: 'c' });
    expect(choice.decision).toEqual({ kind: 'accept', parents: ['a', 'c'] });
    choice.choose({ id: 'z', name: 'z' });
    expect(choice.decision).toEqual({ kind: 'move', parents: ['z'] });
    expect(choice.elsewhere).toEqual([{ id: 'z', name: 'z' }]);
    choice.chooseNone();
    expect(choice.decision).toEqual({ kind: 'reject', parents: [] });
  });
  it('is an insertion with the ticked children, likely ones first', () => {
    const choice = new Choice(detail(['a']));
    choice.tickLikely();
    expect(choice.decision).toEqual({ kind: 'insert', parents: ['a'], children: ['k'] });
    choice.choose({ id: 'b', name: 'b' });
    expect(choice.decision?.kind).toBe('move');
  });
  it('is kept for the next time the item is opened', () => {
    const choice = new Choice(detail(['a']));
    choice.choose({ id: 'b', name: 'b' });
    choice.write('because');
    const again = new Choice(detail(['a']));
    expect([again.chosen[0]?.id, again.note]).toEqual(['b', 'because']);
  });
});

describe('the tree', () => {
  // Roots 0 to 2; below n stand 10n + 1 … 10n + 9, except below the widest, which has a thousand.
  const WIDE = 1000;
  const concept = (id: string): ConceptRow => ({ id, name: `n${id}`, definition: '', children: id.length < 3 ? 9 : 0, path: [], state: 'base' });
  const below = (id: string): string[] => {
    if (id === '') return ['1', '2', '3'];
    if (id === '3') return Array.from({ length: WIDE }, (_, n) => `w${n}`);
    return id.length < 3 ? Array.from({ length: 9 }, (_, n) => `${id}${n + 1}`) : [];
  };
  const source: Source = {
    page: async (parent, cursor, limit) => {
      const from = Number(cursor ?? 0);
      const all = below(parent);
      return { concepts: all.slice(from, from + limit).map(concept), next: from + limit < all.length ? String(from + limit) : null };
    },
    concept: async (id) => ({
      id, name: `n${id}`, definition: '', synonyms: [], children: [], n_children: below(id).length, paths: [], siblings: [], state: 'base', obsolete: false,
      parents: id.startsWith('w') ? [{ id: '3', name: 'n3' }] : id.length > 1 ? [{ id: id.slice(0, -1), name: '' }] : [],
    }),
  };
  const ids = (tree: TreeModel): string[] => tree.rows.map((row) => (row.kind === 'concept' ? row.id : row.kind));

  it('opens and closes', async () => {
    const tree = new TreeModel(source);
    await tree.start();
    expect(ids(tree)).toEqual(['1', '2', '3']);
    const first = tree.rows[0];
    if (first) await tree.toggle(first);
    expect(tree.rows).toHaveLength(12);
    const again = tree.rows[0];
    if (again) await tree.toggle(again);
    expect(tree.rows).toHaveLength(3);
  });
  it('opens down to a concept, also one far beyond the first page', async () => {
    const tree = new TreeModel(source);
    await tree.start();
    const place = await tree.reveal('243');
    expect(tree.rows[place]?.id).toBe('243');
    expect(tree.rows[place]?.depth).toBe(2);
    const far = await tree.reveal('w900');
    expect(tree.rows[far]?.id).toBe('w900');
    expect(tree.rows.filter((row) => row.id === 'w900')).toHaveLength(1);
  });
  it('closes again what it has opened for the concept before, and nothing that was opened by hand', async () => {
    const tree = new TreeModel(source);
    await tree.start();
    const open = (): string[] => tree.rows.filter((row) => row.open).map((row) => row.id);
    await tree.reveal('243', false, true);
    expect(open()).toEqual(['2', '24']);
    await tree.reveal('311', false, true);
    expect(open()).toEqual(['3', '31']);
    const first = tree.rows.find((row) => row.id === '1');
    if (first) await tree.toggle(first);
    await tree.reveal('243', false, true);
    expect(open()).toEqual(['1', '2', '24']);
  });
  it('loads further children page by page, each of them once', async () => {
    const tree = new TreeModel(source);
    await tree.start();
    await tree.reveal('w900');
    for (let more = tree.rows.find((row) => row.kind === 'more'); more; more = tree.rows.find((row) => row.kind === 'more')) await tree.more(more);
    const wide = tree.rows.filter((row) => row.id.startsWith('w')).map((row) => row.id);
    expect(wide).toHaveLength(WIDE);
    expect(new Set(wide).size).toBe(WIDE);
  });
  it('does not show a concept as pending where it is supposed to hang', async () => {
    const row = (id: string, state: 'base' | 'pending'): ConceptRow => ({ id, name: id, definition: '', children: 0, path: [], state });
    const tree = new TreeModel({ ...source, page: () => Promise.resolve({ concepts: [row('1', 'base'), row('n', 'pending'), row('m', 'pending')], next: null }) });
    await tree.start();
    expect(ids(tree)).toEqual(['1', 'n', 'm']);
    tree.suppose({ id: 'n', name: 'fresh' }, ['1']);
    expect(ids(tree)).toEqual(['1', 'ghost', 'm']);
  });
  it('shows where a new concept would hang', async () => {
    const tree = new TreeModel(source);
    await tree.start();
    const fresh = { id: 'n', name: 'fresh' };
    tree.suppose(fresh, ['2']);
    expect(ids(tree)).toEqual(['1', '2', 'ghost', '3']);
    tree.suppose(fresh, []);
    expect(ids(tree)).toEqual(['1', '2', '3']);
  });
});
