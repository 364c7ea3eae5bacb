import { beforeEach, describe, expect, it, vi } from 'vitest';

import { Problem, whenLoaded } from '../src/lib/api';
import { angle, fan, spread, touching } from '../src/lib/fan';
import { figure } from '../src/lib/figures';
import { percent } from '../src/lib/i18n.svelte';
import { Keyboard, nameOf, type Press } from '../src/lib/keys';
import { readDecision } from '../src/lib/live';
import { assign, cell, pasted, roleOf } from '../src/lib/mapping';
import { above, shortened } from '../src/lib/paths';
import { link, parse } from '../src/lib/router.svelte';
import type { Sphere } from '../src/lib/types';

const press = (key: string, more: Partial<Press> = {}): Press & { preventDefault(): void; defaultPrevented: boolean } => ({
  key, code: '', shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, target: document.body, defaultPrevented: false, preventDefault: () => undefined, ...more,
});

describe('addresses', () => {
  it.each([['review', 'http://edamontology.org/data_0880', { state: 'open' }], ['tree', 'a b?c#d/ü%', {}], ['history', null, { by: 'Ada & Bob' }]] as const)('survive the way there and back: %s %s', (view, id, query) => {
    expect(parse(link(view, id, query))).toEqual({ view, id, query });
  });
  it('of nonsense lead to the review', () => {
    expect(parse('#/elsewhere/x').view).toBe('review');
    expect(parse('').id).toBeNull();
    expect(parse('#/tree/%E0%A4%A').view).toBe('tree');
  });
});

describe('a model that is being loaded', () => {
  const asked = (...answers: (string | number)[]) => vi.fn(() => {
    const next = answers.shift();
    return typeof next === 'number' ? Promise.reject(new Problem(next, 'no')) : Promise.resolve(next);
  });
  it('is asked again until it answers', async () => {
    const ask = asked(503, 503, 'picture');
    expect(await whenLoaded(ask, () => true, 1)).toBe('picture');
    expect(ask).toHaveBeenCalledTimes(3);
  });
  it('is asked once where nobody waits, or the answer is another', async () => {
    const [left, absent] = [asked(503, 'picture'), asked(404, 'picture')];
    await expect(whenLoaded(left, () => false, 1)).rejects.toThrow('no');
    await expect(whenLoaded(absent, () => true, 1)).rejects.toThrow('no');
    expect([left.mock.calls.length, absent.mock.calls.length]).toEqual([1, 1]);
  });
});

describe('keys', () => {
  it('name digits by their place, whatever the layout prints with shift', () => {
    expect(nameOf(press('"', { code: 'Digit2', shiftKey: true }))).toBe('shift+2');
    expect(nameOf(press('2', { code: 'Digit2' }))).toBe('2');
    expect(nameOf(press('/', { code: 'Digit7', shiftKey: true }))).toBe('/');
  });
  it('do nothing while somebody types, or together with control', () => {
    const field = document.createElement('input');
    expect(nameOf(press('a', { target: field }))).toBe('');
    expect(nameOf(press('Escape', { target: field }))).toBe('Escape');
    expect(nameOf(press('a', { ctrlKey: true }))).toBe('');
  });
  it('of the view on screen come before those of the page, and g waits for the next one', () => {
    const keyboard = new Keyboard();
    const page = vi.fn();
    const view = vi.fn();
    const go = vi.fn();
    keyboard.use({ u: page, 'g t': go });
    const leave = keyboard.use({ u: view, t: view });
    keyboard.handle(press('u'));
    keyboard.handle(press('g'));
    keyboard.handle(press('t'));
    expect([page.mock.calls.length, view.mock.calls.length, go.mock.calls.length]).toEqual([0, 1, 1]);
    leave();
    keyboard.handle(press('u'));
    expect(page).toHaveBeenCalledOnce();
  });
});

describe('the fan', () => {
  const point = (id: string, x: number, y: number, z: number, shell: number, kind: 'candidate' | 'taxonomy' = 'candidate') => ({ id, name: id, x, y, z, shell, kind, cosine: z, gate: true });
  const sphere: Sphere = { query: { x: 0, y: 0, z: 1, shell: 1 }, shells: [0.5, 1], points: [point('same', 0, 0, 1, 0.5), point('left', 0, -0.6, 0.8, 1), point('right', 0, 0.6, 0.8, 1), point('far', 0, 0, -1, 1, 'taxonomy')] };
  it('puts the new concept straight up and the others by how much they differ, on their side', () => {
    const { query, placed } = fan(sphere);
    const at = Object.fromEntries(placed.map((dot) => [dot.point.id, dot]));
    expect(query.x).toBe(0);
    expect(Math.abs(at.same?.turn ?? 1)).toBeLessThan(Math.abs(at.left?.turn ?? 0));
    expect(at.left?.turn).toBeCloseTo(-(at.right?.turn ?? 0));
    expect(Math.abs(at.far?.turn ?? 0)).toBeGreaterThan(Math.abs(at.left?.turn ?? 0));
    expect(Math.abs(at.far?.turn ?? 0)).toBeLessThan(Math.PI / 2);
  });
  it('keeps the shell as the distance from the centre', () => {
    for (const dot of fan(sphere).placed) expect(Math.hypot(dot.x, dot.y)).toBeCloseTo(0.12 + 0.88 * dot.point.shell);
  });
  it('takes cosines that rounding pushed over one', () => {
    expect(angle(1.0000001)).toBe(0);
  });
  it('keeps labels apart that stand above each other, from either side', () => {
    const labels = [{ id: 'a', from: 0, to: 50 }, { id: 'c', from: 80, to: 120 }, { id: 'b', from: 40, to: 70 }];
    expect(touching(labels).map((group) => group.map((label) => label.id))).toEqual([['a', 'b'], ['c']]);
  });
  it('spreads labels without overlap and inside their room', () => {
    const heights = spread([50, 52, 51, 190, 195], 14, 10, 200);
    const sorted = heights.toSorted((a, b) => a - b);
    for (let n = 1; n < sorted.length; n += 1) expect((sorted[n] ?? 0) - (sorted[n - 1] ?? 0)).toBeGreaterThanOrEqual(14 - 1e-9);
    expect(Math.max(...heights)).toBeLessThanOrEqual(200);
  });
});

describe('what people read', () => {
  it('never says 0 % or 100 % for what is merely close', () => {
    expect([0, 0.001, 0.25, 0.29, 0.896, 0.999, 1].map(percent)).toEqual(['0 %', '< 1 %', '25 %', '29 %', '89 %', '99 %', '100 %']);
  });
  it('shows shares and percents alike, and counts as they are', () => {
    expect(figure('ece', 0.031)).toBe('3.1 %');
    expect(figure('hit@1', 61.74)).toBe('61.7 %');
    expect(figure('hidden', 600)).toBe('600');
    expect(figure('ece', null)).toBe('–');
  });
  it('shows paths without the concept itself and short enough', () => {
    expect(above(['A', 'B', 'C'], 'C')).toEqual(['A', 'B']);
    expect(above(['A', 'B'], 'C')).toEqual(['A', 'B']);
    expect(shortened(['A', 'B', 'C', 'D', 'E'])).toEqual(['A', '…', 'D', 'E']);
  });
  it('hears decisions in either form', () => {
    const event = { id: 'e', kind: 'accept' };
    expect(readDecision({ event, item: { id: 'i' } })).toEqual({ event, item: { id: 'i' } });
    expect(readDecision(event).event).toEqual(event);
  });
});

describe('columns', () => {
  it('have one role each, and a role one column', () => {
    const mapping = assign({ name: 'A', description: 'B' }, 'B', 'name');
    expect(mapping).toEqual({ name: 'B' });
    expect(roleOf(mapping, 'A')).toBe('keep');
    expect(assign(mapping, 'B', 'keep')).toEqual({});
  });
  it('show cells of records and of lists', () => {
    expect(cell({ A: 1 }, 'A', 0)).toBe('1');
    expect(cell(['x', null], 'B', 1)).toBe('');
  });
  it('recognise what was pasted', () => {
    expect(pasted('red "one"\ngreen, or so')).toEqual({ name: 'pasted.csv', content: 'name\n"red ""one"""\n"green, or so"' });
    expect(pasted('Name,Definition\na,b').content).toBe('Name,Definition\na,b');
    expect(pasted('name\tdefinition\na\tb').name).toBe('pasted.tsv');
    expect(pasted('{"name": "a"}').name).toBe('pasted.jsonl');
  });
});

beforeEach(() => localStorage.clear());
