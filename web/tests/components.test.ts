import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import axe from 'axe-core';
import { createRawSnippet } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import Candidate from '../src/parts/Candidate.svelte';
import CalibrationPlot from '../src/parts/CalibrationPlot.svelte';
import EditForm from '../src/parts/EditForm.svelte';
import FlatSphere from '../src/parts/FlatSphere.svelte';
import Help from '../src/parts/Help.svelte';
import InsertionPreview from '../src/parts/InsertionPreview.svelte';
import VirtualList from '../src/parts/VirtualList.svelte';
import { preference, said } from '../src/lib/i18n.svelte';
import type { ItemDetail, Suggestion } from '../src/lib/types';
import { de } from '../src/texts/de';
import { en } from '../src/texts/en';

const candidate: Suggestion = {
  id: 'a', name: 'Alignment', path: ['Data', 'Report', 'Alignment'], probability: 0.67, score: 1, cosine: 0.9, gate: true, siblings: ['Structure alignment'], reasons: {},
  definition: 'Things put side by side.', sentences: [{ text: 'both speak of sequences', for: true }, { text: 'it has nothing below it', for: false }],
};
const quiet = { onchoose: vi.fn(), onadd: vi.fn(), onbroader: vi.fn(), onnarrower: vi.fn() };

async function serious(container: Element): Promise<string[]> {
  const found = await axe.run(container, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } });
  return found.violations.filter((violation) => violation.impact === 'serious' || violation.impact === 'critical').map((violation) => violation.id);
}

beforeEach(() => localStorage.clear());
afterEach(cleanup);

describe('a candidate', () => {
  it('keeps what speaks for it and what speaks against it apart', () => {
    render(Candidate, { candidate, digit: 1, chosen: true, several: false, ...quiet });
    expect(screen.getByLabelText(en.concept.pro).textContent).toBe('both speak of sequences');
    expect(screen.getByLabelText(en.concept.contra).textContent).toBe('it has nothing below it');
    expect(screen.getByText('Data › Report ›')).toBeTruthy();
    expect(screen.getByRole('button', { pressed: true }).textContent).toContain('67 %');
  });
  it('says its reasons in the language of the page', () => {
    preference.set('de');
    const sentences = [
      { text: "1 of the 10 concepts most like it is directly below 'Alignment': 'A, B'", for: true, code: 'neighbour', values: { total: 10, count: 1, examples: ['A, B', '…'] } },
      { text: 'said by an older service', for: false },
    ];
    render(Candidate, { candidate: { ...candidate, sentences }, digit: 1, chosen: true, several: false, ...quiet });
    expect(screen.getByLabelText(de.concept.pro).textContent).toBe('einer der 10 ähnlichsten Begriffe steht direkt unter „Alignment“: „A, B“ …');
    expect(screen.getByLabelText(de.concept.contra).textContent).toBe('said by an older service');
    expect(said('hiding fold 2 of 5 for the ranker')).toBe('Teil 2 von 5 wird verborgen');
    expect(said("'a' hangs below 'b' itself", 'cycle')).toBe('ein Begriff stünde unter sich selbst');
    preference.set('en');
    expect(said('encoding 2,298 concepts')).toBe('encoding 2,298 concepts');
  });
  it('is chosen by a click, and as well by a click with shift', async () => {
    const onchoose = vi.fn();
    const onadd = vi.fn();
    render(Candidate, { candidate, digit: 1, chosen: false, several: true, ...quiet, onchoose, onadd });
    await fireEvent.click(screen.getByRole('button', { pressed: false }));
    await fireEvent.click(screen.getByRole('button', { pressed: false }), { shiftKey: true });
    expect([onchoose.mock.calls.length, onadd.mock.calls.length]).toEqual([1, 1]);
  });
  it('has names that are text, never markup', () => {
    const { container } = render(Candidate, { candidate: { ...candidate, name: '<img src=x onerror=alert(1)>' }, digit: 1, chosen: true, several: false, ...quiet });
    expect(container.querySelector('img')).toBeNull();
  });
});

describe('the insertion preview', () => {
  it('shows what would move where', async () => {
    const ontick = vi.fn();
    const insertion = { parent: { id: 'p', name: 'Parent' }, children: [{ id: 'k', name: 'Kid', probability: 0.8 }, { id: 'l', name: 'Lad', probability: 0.1 }] };
    const { container } = render(InsertionPreview, { insertion, ticked: ['k'], name: 'Fresh', ontick });
    expect([...container.querySelectorAll('.after li')].map((line) => line.textContent)).toEqual(['Parent', 'Fresh', 'Kid', 'Lad']);
    await fireEvent.click(screen.getByLabelText(/Lad/));
    expect(ontick).toHaveBeenCalledWith('l');
    expect(await serious(container)).toEqual([]);
  });
});

describe('editing', () => {
  const item = { id: 'i', concept: { name: 'old', definition: 'd', synonyms: ['s'] } } as unknown as ItemDetail;
  it('sends only what was changed', async () => {
    const onsave = vi.fn();
    render(EditForm, { item, onsave, oncancel: vi.fn() });
    await fireEvent.input(screen.getByLabelText(en.concept.name), { target: { value: ' new ' } });
    await fireEvent.input(screen.getByLabelText(en.concept.synonymsField), { target: { value: 's\n\n t ' } });
    await fireEvent.submit(screen.getByLabelText(en.concept.name).closest('form') as HTMLFormElement);
    expect(onsave).toHaveBeenCalledWith({ name: 'new', synonyms: ['s', 't'] });
  });
  it('keeps what was typed through a reload', async () => {
    const first = render(EditForm, { item, onsave: vi.fn(), oncancel: vi.fn() });
    await fireEvent.input(screen.getByLabelText(en.concept.definition), { target: { value: 'half a sen' } });
    first.unmount();
    render(EditForm, { item, onsave: vi.fn(), oncancel: vi.fn() });
    expect((screen.getByLabelText(en.concept.definition) as HTMLTextAreaElement).value).toBe('half a sen');
  });
});

describe('the picture', () => {
  it('names the candidates and answers to clicks', async () => {
    const onpick = vi.fn();
    const sphere = { query: { x: 0, y: 0, z: 1, shell: 1 }, shells: [1], points: [{ id: 'a', name: 'Alignment', x: 0, y: 0.6, z: 0.8, shell: 0.5, kind: 'candidate' as const, cosine: 0.8, gate: false }] };
    const { container } = render(FlatSphere, { sphere, name: 'Fresh', chosen: ['a'], hovered: null, onhover: vi.fn(), onpick });
    await fireEvent.click(screen.getByRole('button', { name: 'Alignment' }));
    expect(onpick).toHaveBeenCalledOnce();
    expect(container.querySelector('circle.candidate.out')).toBeTruthy();
  });
});

describe('the plot of percentages', () => {
  it('says in words what it shows', () => {
    render(CalibrationPlot, { bins: [{ from: 0.8, to: 0.9, mean: 0.85, right: 0.83, count: 40 }, { from: 0.9, to: 1, mean: 0, right: 0, count: 0 }] });
    expect(screen.getByRole('img').getAttribute('aria-label')).toContain('said 85 %, right 83 %, 40 concepts');
  });
});

describe('the virtual list', () => {
  it('draws a handful of a hundred thousand rows', () => {
    const row = createRawSnippet<[number]>((place) => ({ render: () => `<p>row ${place()}</p>` }));
    const { container } = render(VirtualList, { count: 100_000, height: 28, row, label: 'rows' });
    expect(container.querySelectorAll('p').length).toBeLessThan(60);
    expect((container.querySelector('.all') as HTMLElement).style.height).toBe('2800000px');
  });
});

describe('the list of keys', () => {
  it('is a dialog that axe has nothing serious against', async () => {
    HTMLDialogElement.prototype.showModal ??= function show(this: HTMLDialogElement) { this.open = true; };
    const { container } = render(Help, { onclose: vi.fn() });
    expect(screen.getByText(en.help.keys.accept)).toBeTruthy();
    expect(await serious(container)).toEqual([]);
  });
});

describe('the texts', () => {
  const leaves = (value: unknown, path: string): string[] =>
    typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([name, below]) => leaves(below, `${path}.${name}`)) : [path];
  it('are complete in both languages', () => {
    expect(leaves(de, '').sort()).toEqual(leaves(en, '').sort());
  });
  it('hold none of the words that only we know', () => {
    const all = JSON.stringify([en, de]).toLowerCase();
    for (const word of ['calibrat', 'embedding', 'cosine', 'gate', 'logit', 'threshold', 'hyperspher', 'query', 'token', 'kalibr']) {
      expect(all.replace(/"[a-z_@0-9-]+":/g, ''), word).not.toContain(word);
    }
  });
});
