import { describe, expect, it } from 'vitest';

import { Problem } from '../src/lib/api';
import { Outbox, type Entry, type Listener, type Surroundings } from '../src/lib/outbox';
import type { Decided, DecisionBody, ItemRow } from '../src/lib/types';

const row = (id: string, version: number): ItemRow => ({
  id, name: id, state: 'accepted', best: null, none_probability: 0, assignee: null, version, decided_by: null, decided_at: null,
});
const decided = (item: string, version: number, event: string): Decided =>
  ({ event: { id: event }, item: row(item, version), next: null }) as unknown as Decided;
const decide = (key: string, item: string, version = 1): Entry => ({
  key, made: 0, type: 'decide', item, body: { item, kind: 'accept', parents: ['p'], version, note: '' },
});

class Kept {
  kept = new Map<string, string>();
  getItem(name: string): string | null {
    return this.kept.get(name) ?? null;
  }
  setItem(name: string, value: string): void {
    this.kept.set(name, value);
  }
}

interface Call {
  path: string;
  body: DecisionBody;
  key: string;
}

function setUp(answer: (call: Call, n: number) => Decided | Problem, storage = new Kept()) {
  const calls: Call[] = [];
  const heard: string[] = [];
  const pauses: number[] = [];
  const around: Surroundings = {
    storage,
    send: async (path, body, key) => {
      const call = { path, body: body as DecisionBody, key };
      calls.push(call);
      const result = answer(call, calls.length);
      if (result instanceof Problem) throw result;
      return result;
    },
    pause: async (milliseconds) => void pauses.push(milliseconds),
  };
  const listener: Listener = {
    sent: (entry) => heard.push(`sent ${entry.key}`),
    refused: (entry, problem) => heard.push(`refused ${entry.key} ${problem.status}`),
    changed: () => undefined,
    signedOut: () => heard.push('signed out'),
  };
  return { outbox: new Outbox(listener, around), calls, heard, pauses, storage };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('the outbox', () => {
  it('sends in order and forgets what was answered', async () => {
    const { outbox, calls, heard } = setUp((call) => decided(call.body.item, 2, `e-${call.key}`));
    outbox.add(decide('1', 'a'));
    outbox.add(decide('2', 'b'));
    await settle();
    expect(calls.map((call) => call.key)).toEqual(['1', '2']);
    expect(heard).toEqual(['sent 1', 'sent 2']);
    expect(outbox.waiting).toHaveLength(0);
  });

  it('sends the same key again until the service answers', async () => {
    const { outbox, calls, heard, pauses } = setUp((call, n) => (n < 4 ? new Problem(n === 2 ? 503 : 0, 'away') : decided(call.body.item, 2, 'e')));
    outbox.add(decide('1', 'a'));
    await settle();
    expect(calls.map((call) => call.key)).toEqual(['1', '1', '1', '1']);
    expect(pauses).toEqual([400, 800, 1600]);
    expect(heard).toEqual(['sent 1']);
  });

  it('keeps what was not answered through a reload', async () => {
    const storage = new Kept();
    storage.setItem('taxosphere.outbox', JSON.stringify([decide('1', 'a')]));
    const { outbox, heard } = setUp((call) => decided(call.body.item, 2, 'e'), storage);
    expect(outbox.waiting).toHaveLength(1);
    await outbox.run();
    expect(heard).toEqual(['sent 1']);
    expect(storage.getItem('taxosphere.outbox')).toBe('[]');
  });

  it('gives up on a conflict and goes on with the rest', async () => {
    const { outbox, heard } = setUp((call) => (call.key === '1' ? new Problem(409, 'late', { current: row('a', 7) }) : decided('b', 2, 'e')));
    outbox.add(decide('1', 'a'));
    outbox.add(decide('2', 'b'));
    await settle();
    expect(heard).toEqual(['refused 1 409', 'sent 2']);
  });

  it('keeps everything where the service no longer knows who this is, and sends it after signing in', async () => {
    const { outbox, heard } = setUp((call, n) => (n === 1 ? new Problem(401, 'who?') : decided(call.body.item, 2, 'e')));
    outbox.add(decide('1', 'a'));
    await settle();
    expect(heard).toEqual(['signed out']);
    expect(outbox.waiting).toHaveLength(1);
    await outbox.run();
    expect(heard).toEqual(['signed out', 'sent 1']);
  });

  it('builds a second decision on the answer to the first', async () => {
    const { outbox, calls } = setUp((call, n) => decided(call.body.item, n + 1, `e${n}`));
    outbox.add(decide('1', 'a', 1));
    outbox.add(decide('2', 'a', 1));
    await settle();
    expect(calls.map((call) => call.body.version)).toEqual([1, 2]);
  });

  it('undoes by the event that the decision became', async () => {
    const { outbox, calls } = setUp((call) => decided('a', 2, `event of ${call.key}`));
    outbox.add(decide('1', 'a'));
    outbox.add({ key: '2', made: 0, type: 'undo', item: 'a', of: { key: '1' } });
    await settle();
    expect(calls[1]?.path).toBe('decisions/event%20of%201/undo');
  });

  it('drops the undo of a decision that was refused', async () => {
    const { outbox, heard } = setUp(() => new Problem(409, 'late'));
    outbox.add(decide('1', 'a'));
    outbox.add({ key: '2', made: 0, type: 'undo', item: 'a', of: { key: '1' } });
    await settle();
    expect(heard).toEqual(['refused 1 409', 'refused 2 410']);
  });
});
