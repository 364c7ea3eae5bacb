/** The list of new concepts: pages of rows as far as they have been scrolled to, in the order of the service. */
import { api, Problem } from './api';
import type { Counts, ItemRow, ItemState, QueuePage } from './types';

export type Sort = '-probability' | 'probability' | 'name' | 'added';

export interface Filter {
  state: ItemState | '';
  sort: Sort;
  query: string;
  assignee: string;
}

export const EVERYTHING: Filter = { state: '', sort: '-probability', query: '', assignee: '' };
export const NO_COUNTS: Counts = { open: 0, accepted: 0, moved: 0, top: 0, same: 0, rejected: 0, later: 0 };
const PAGE = 200;
const LARGE_PAGE = 500;

export class Queue {
  filter = $state.raw<Filter>(EVERYTHING);
  ids = $state.raw<string[]>([]);
  counts = $state.raw<Counts>(NO_COUNTS);
  loading = $state(false);
  failed = $state<string | null>(null);
  loaded = $state(false);
  /** Rises with every change of a row: templates that read rows depend on it. */
  change = $state(0);

  private rows = new Map<string, ItemRow>();
  private places = new Map<string, number>();
  private next: string | null = null;
  private turn = 0;
  private page: Promise<void> | null = null;

  constructor(private readonly load: (query: Record<string, string | number>) => Promise<QueuePage> = api.queue) {}

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  get more(): boolean {
    return this.next !== null;
  }

  row(id: string): ItemRow | null {
    void this.change;
    return this.rows.get(id) ?? null;
  }

  place(id: string | null): number {
    return id === null ? -1 : (this.places.get(id) ?? -1);
  }

  async reload(filter: Filter = this.filter): Promise<void> {
    this.filter = filter;
    this.turn += 1;
    this.page = null;
    await this.fetch(null);
  }

  /** Read again as many rows as are there, and show them all at once: nobody loses their place. */
  async refresh(): Promise<void> {
    const wanted = this.ids.length;
    this.turn += 1;
    const turn = this.turn;
    const pages: QueuePage[] = [];
    try {
      for (let count = 0, cursor: string | null = null; pages.length === 0 || (cursor !== null && count < wanted); ) {
        const page: QueuePage = await this.load(this.query(cursor, wanted > PAGE ? LARGE_PAGE : PAGE));
        if (turn !== this.turn) return;
        pages.push(page);
        count += page.items.length;
        cursor = page.next;
      }
    } catch {
      return; // the connection broke; whoever notices that it is back asks again
    } finally {
      if (turn === this.turn) [this.loading, this.page] = [false, null];
    }
    pages.forEach((page, n) => this.take(page, n === 0));
  }

  /** Load further pages until the row at `place` is there. */
  async ensure(place: number): Promise<void> {
    while (place >= this.ids.length && this.next !== null) {
      const before = this.ids.length;
      await (this.page ?? this.fetch(this.next));
      if (this.ids.length === before && this.failed) return;
    }
  }

  put(row: ItemRow): void {
    const before = this.rows.get(row.id);
    if (before && before.state !== row.state) this.count(before.state, row.state);
    this.rows.set(row.id, row);
    this.change += 1;
  }

  /** The next open row after `id`, else the first open one before it. */
  nextOpen(id: string | null): string | null {
    const start = this.place(id);
    const count = this.ids.length;
    for (let step = 1; step <= count; step += 1) {
      const other = this.ids[(start + step + count) % count];
      if (other !== undefined && other !== id && this.rows.get(other)?.state === 'open') return other;
    }
    return null;
  }

  neighbour(id: string | null, step: 1 | -1): string | null {
    const place = this.place(id);
    return this.ids[place < 0 ? 0 : place + step] ?? null;
  }

  /** The ids of the next open rows, for fetching them ahead. */
  upcoming(id: string | null, count: number): string[] {
    const found: string[] = [];
    for (let place = this.place(id) + 1; place < this.ids.length && found.length < count; place += 1) {
      const other = this.ids[place];
      if (other !== undefined && this.rows.get(other)?.state === 'open') found.push(other);
    }
    return found;
  }

  private count(from: ItemState, to: ItemState): void {
    this.counts = { ...this.counts, [from]: Math.max(0, this.counts[from] - 1), [to]: this.counts[to] + 1 };
  }

  private query(cursor: string | null, limit: number): Record<string, string | number> {
    const { state, sort, query, assignee } = this.filter;
    return { sort, limit, ...(state && { state }), ...(query && { query }), ...(assignee && { assignee }), ...(cursor && { cursor }) };
  }

  private fetch(cursor: string | null): Promise<void> {
    const turn = this.turn;
    this.loading = true;
    const page = this.load(this.query(cursor, PAGE))
      .then((answer) => {
        if (turn === this.turn) this.take(answer, cursor === null);
      })
      .catch((error: unknown) => {
        if (turn === this.turn) this.failed = error instanceof Problem ? error.detail : String(error);
      })
      .finally(() => {
        if (turn !== this.turn) return;
        this.loading = false;
        this.page = null;
      });
    this.page = page;
    return page;
  }

  private take(page: QueuePage, fresh: boolean): void {
    if (fresh) {
      this.rows.clear();
      this.places.clear();
    }
    const ids = fresh ? [] : this.ids.slice();
    for (const row of page.items) {
      this.rows.set(row.id, row);
      if (this.places.has(row.id)) continue;
      this.places.set(row.id, ids.length);
      ids.push(row.id);
    }
    this.ids = ids;
    this.counts = { ...NO_COUNTS, ...page.counts };
    this.next = page.next;
    this.failed = null;
    this.loaded = true;
    this.change += 1;
  }
}
