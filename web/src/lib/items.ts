/** Details of items, kept for a while and fetched ahead, so that the next item is there when it is asked for. */
import { api } from './api';
import type { ItemDetail, ItemRow } from './types';

const KEPT = 60;

export class Items {
  private kept = new Map<string, ItemDetail>();
  private coming = new Map<string, Promise<ItemDetail>>();

  constructor(private readonly load: (item: string) => Promise<ItemDetail> = api.item) {}

  peek(item: string): ItemDetail | null {
    return this.kept.get(item) ?? null;
  }

  fetch(item: string): Promise<ItemDetail> {
    const there = this.kept.get(item);
    if (there) return Promise.resolve(there);
    const coming = this.coming.get(item) ?? this.begin(item);
    return coming;
  }

  ahead(items: string[]): void {
    for (const item of items) if (!this.kept.has(item)) void this.fetch(item).catch(() => undefined);
  }

  /** Take over a newer row. Its history and candidates are asked for again when the item is shown. */
  update(row: ItemRow): void {
    const there = this.kept.get(row.id);
    if (there) this.kept.set(row.id, { ...there, ...row });
  }

  forget(item?: string): void {
    if (item === undefined) this.kept.clear();
    else this.kept.delete(item);
  }

  private begin(item: string): Promise<ItemDetail> {
    const coming = this.load(item)
      .then((detail) => {
        this.kept.set(item, detail);
        const oldest = this.kept.size > KEPT ? this.kept.keys().next().value : undefined;
        if (oldest !== undefined) this.kept.delete(oldest);
        return detail;
      })
      .finally(() => this.coming.delete(item));
    this.coming.set(item, coming);
    return coming;
  }
}

export const items = new Items();
