/** Everything the views share: who is here, the queue, and decisions with their way back. */
import { api, Problem } from './api';
import { dropDraft, writeDraft } from './drafts';
import { items } from './items';
import { listen } from './live';
import { Outbox, type Entry } from './outbox';
import { Queue } from './queue.svelte';
import { said, texts } from './i18n.svelte';
import type { DecisionBody, DecisionEvent, DecisionKind, ItemRow, ItemState, Job, Me, TaxonomySummary } from './types';

const STATE_AFTER: Partial<Record<DecisionKind, ItemState>> = {
  accept: 'accepted', insert: 'accepted', move: 'moved', top: 'top', same: 'same', reject: 'rejected', later: 'later',
};
const STEPS_BACK = 100;

interface Step {
  key: string;
  item: string;
  before: ItemRow;
}

export interface Notice {
  id: number;
  text: string;
  tone: 'plain' | 'bad';
  action?: { label: string; run: () => void };
}

export function newKey(): string {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(16)).join('-');
}

class Workbench {
  me = $state.raw<Me | null>(null);
  taxonomy = $state.raw<TaxonomySummary | null>(null);
  queue = new Queue();
  waiting = $state(0);
  online = $state(true);
  signedOut = $state(false);
  savedAt = $state.raw<Date | null>(null);
  heard = $state.raw<DecisionEvent | null>(null);
  notices = $state.raw<Notice[]>([]);
  job = $state.raw<Job | null>(null);
  /** Rise when something that was shown is no longer so. */
  modelChange = $state(0);
  historyChange = $state(0);
  /** Concepts whose children have changed. */
  touched = $state.raw<{ ids: string[]; n: number }>({ ids: [], n: 0 });
  itemChange = $state.raw<{ id: string; n: number }>({ id: '', n: 0 });

  private stopListening: (() => void) | null = null;
  private steps: Step[] = [];
  private befores = new Map<string, ItemRow>();
  private numbers = 0;
  private refreshing = 0;
  private counting = 0;
  private outbox = new Outbox({
    sent: (entry, answer) => {
      this.savedAt = new Date();
      this.befores.delete(entry.key);
      if (answer.item) this.took(answer.item);
      this.touch(answer.event);
    },
    refused: (entry, problem) => this.rollBack(entry, problem),
    changed: (waiting, online) => {
      this.waiting = waiting;
      this.online = online;
    },
    signedOut: () => (this.signedOut = true),
  });

  get mayDecide(): boolean {
    return this.me !== null && this.me.role !== 'viewer';
  }

  get isAdmin(): boolean {
    return this.me?.role === 'admin';
  }

  /** Begin again after somebody has signed in; what waited is sent now. */
  async signedIn(): Promise<void> {
    this.signedOut = false;
    this.stopListening?.();
    await Promise.all([this.start(), this.queue.reload()]);
  }

  async start(): Promise<void> {
    this.waiting = this.outbox.waiting.length;
    try {
      const [me, taxonomy] = await Promise.all([api.me(), api.taxonomy()]);
      this.me = me;
      this.taxonomy = taxonomy;
    } catch (error) {
      this.failed(error);
      if (!this.signedOut) setTimeout(() => void this.start(), 2000);
      return;
    }
    void this.outbox.run();
    this.stopListening = listen({
      decision: (event, item) => this.hear(event, item),
      queue: () => this.refreshSoon(),
      job: (job) => (this.job = job),
      model: () => {
        items.forget();
        this.modelChange += 1;
        this.refreshSoon();
      },
      again: () => {
        items.forget();
        void this.outbox.run();
        this.refreshSoon();
      },
      connected: (yes) => (this.online = yes),
    });
  }

  /** Decide at once on screen, then tell the service. */
  decide(item: ItemRow, kind: DecisionKind, rest: Partial<Omit<DecisionBody, 'item' | 'kind' | 'version'>> = {}): void {
    const key = newKey();
    const after = STATE_AFTER[kind];
    this.befores.set(key, item);
    if (after) {
      this.steps = [...this.steps.slice(-STEPS_BACK), { key, item: item.id, before: item }];
      this.show({ ...item, state: after, decided_by: this.me?.name ?? null, decided_at: new Date().toISOString() });
      dropDraft(item.id);
    }
    const body: DecisionBody = {
      item: item.id, kind, parents: rest.parents ?? [], version: item.version, note: rest.note ?? '',
      ...(rest.children && { children: rest.children }),
      ...(rest.changes && { changes: rest.changes }),
    };
    this.outbox.add({ key, made: Date.now(), type: 'decide', item: item.id, body });
  }

  /** Take back this person's last decision of this session; the item it was about, or null. */
  undoLast(): ItemRow | null {
    const step = this.steps.at(-1);
    if (!step) return null;
    this.steps = this.steps.slice(0, -1);
    const now = this.queue.row(step.item);
    this.show({ ...(now ?? step.before), state: step.before.state, decided_by: step.before.decided_by });
    if (!this.outbox.withdraw(step.key)) {
      const key = newKey();
      this.befores.set(key, now ?? step.before);
      this.outbox.add({ key, made: Date.now(), type: 'undo', item: step.item, of: { key: step.key } });
    }
    return step.before;
  }

  undo(event: DecisionEvent): void {
    this.steps = this.steps.filter((step) => step.item !== event.item);
    this.outbox.add({ key: newKey(), made: Date.now(), type: 'undo', item: event.item, of: { event: event.id } });
  }

  async assign(item: ItemRow, to: string | null): Promise<void> {
    this.show({ ...item, assignee: to });
    try {
      const answer = await api.assign(item.id, to, item.version);
      this.took('item' in answer ? answer.item : answer);
    } catch (error) {
      const current = error instanceof Problem ? error.current : null;
      this.show(current ?? item);
      this.failed(error);
    }
  }

  say(text: string, tone: Notice['tone'] = 'plain', action?: Notice['action']): void {
    const id = (this.numbers += 1);
    this.notices = [...this.notices.slice(-2), { id, text, tone, ...(action && { action }) }];
    setTimeout(() => this.dismiss(id), tone === 'bad' ? 12_000 : 6000);
  }

  dismiss(id: number): void {
    this.notices = this.notices.filter((notice) => notice.id !== id);
  }

  failed(error: unknown): void {
    if (error instanceof Problem && error.status === 401) this.signedOut = true;
    else if (error instanceof Problem && error.status === 0) this.online = false;
    else this.say(error instanceof Problem ? said(error.detail, error.code) : String(error), 'bad');
  }

  async refresh(): Promise<void> {
    try {
      this.taxonomy = await api.taxonomy();
    } catch (error) {
      this.failed(error);
    }
  }

  refreshSoon(): void {
    clearTimeout(this.refreshing);
    this.refreshing = window.setTimeout(() => {
      void this.refresh();
      void this.queue.refresh();
      this.touched = { ids: [], n: this.touched.n + 1 };
      this.historyChange += 1;
    }, 300);
  }

  private show(row: ItemRow): void {
    this.queue.put(row);
    items.update(row);
    this.itemChange = { id: row.id, n: this.itemChange.n + 1 };
  }

  /** The service's word on an item. A decision of ours that still waits stays on screen. */
  private took(row: ItemRow): void {
    if (this.outbox.waiting.some((entry) => entry.item === row.id)) return;
    const before = this.queue.row(row.id);
    items.forget(row.id);
    this.queue.put(row);
    this.itemChange = { id: row.id, n: this.itemChange.n + 1 };
    if (before?.state !== row.state || row.state !== 'open') this.historyChange += 1;
    this.summarySoon();
  }

  private summarySoon(): void {
    clearTimeout(this.counting);
    this.counting = window.setTimeout(() => void this.refresh(), 600);
  }

  private touch(event: DecisionEvent): void {
    if (['comment', 'edit', 'later', 'reject'].includes(event.kind)) return;
    this.touched = { ids: event.kind === 'undo' ? [] : event.parents.map((parent) => parent.id), n: this.touched.n + 1 };
  }

  private hear(event: DecisionEvent | null, item: ItemRow | null): void {
    if (item) this.took(item);
    if (event && event.by !== this.me?.name) {
      this.heard = event;
      this.touch(event);
    }
    this.historyChange += 1;
  }

  private rollBack(entry: Entry, problem: Problem): void {
    const before = this.befores.get(entry.key);
    this.befores.delete(entry.key);
    this.steps = this.steps.filter((step) => step.key !== entry.key);
    const row = problem.current ?? before;
    if (row) this.took(row);
    else this.refreshSoon();
    const t = texts();
    const name = row?.name ?? entry.item;
    if (entry.type === 'decide' && entry.body.note) writeDraft(entry.item, { note: entry.body.note });
    if (problem.status === 410) return; // the undo of a decision that was itself refused
    const reason = problem.status === 409 && problem.current && entry.type === 'decide'
      ? t.notices.decidedElsewhere(name, problem.current.decided_by ?? '', t.states[problem.current.state])
      : t.notices.refused(name, said(problem.detail, problem.code));
    this.say(reason, 'bad', { label: t.notices.show, run: () => (location.hash = `#/review/${encodeURIComponent(entry.item)}`) });
  }
}

export const workbench = new Workbench();
