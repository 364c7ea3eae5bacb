/**
 * Decisions on their way to the service.
 *
 * Each one is written to the browser's storage before it is sent, with a key that makes sending twice harmless. What has
 * not been answered is sent again: after a pause where the connection broke, and after a reload of the page.
 */
import { Problem, post } from './api';
import type { Decided, DecisionBody } from './types';

export type Entry = { key: string; made: number } & (
  | { type: 'decide'; item: string; body: DecisionBody }
  | { type: 'undo'; item: string; of: { key: string } | { event: string } }
);

export interface Listener {
  sent(entry: Entry, answer: Decided): void;
  refused(entry: Entry, problem: Problem): void;
  changed(waiting: number, online: boolean): void;
  /** The service no longer knows who this is: what waits is kept. */
  signedOut(): void;
}

export interface Surroundings {
  storage: Pick<Storage, 'getItem' | 'setItem'>;
  send: (path: string, body: unknown, key: string) => Promise<Decided>;
  pause: (milliseconds: number) => Promise<void>;
}

const STORED = 'taxosphere.outbox';
const REMEMBERED = 200;
const PAUSES = [400, 800, 1600, 3000, 5000];

export const browser: Surroundings = {
  storage: localStorage,
  send: post,
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

export class Outbox {
  private entries: Entry[] = [];
  private events = new Map<string, string>();
  private versions = new Map<string, number>();
  private running = false;
  private failures = 0;
  private halted = false;

  constructor(
    private readonly listener: Listener,
    private readonly around: Surroundings = browser,
  ) {
    try {
      this.entries = JSON.parse(around.storage.getItem(STORED) ?? '[]') as Entry[];
    } catch {
      this.entries = [];
    }
  }

  get waiting(): readonly Entry[] {
    return this.entries;
  }

  add(entry: Entry): void {
    const event = entry.type === 'undo' && 'key' in entry.of ? this.events.get(entry.of.key) : undefined;
    this.entries.push(event ? ({ ...entry, of: { event } } as Entry) : entry);
    this.keep();
    void this.run();
  }

  /** Take back what has not been sent yet; false where it may have been. */
  withdraw(key: string): boolean {
    const place = this.entries.findIndex((entry) => entry.key === key);
    if (place < 0 || (place === 0 && this.running)) return false;
    this.entries.splice(place, 1);
    this.keep();
    return true;
  }

  /** Send what waits, oldest first, until nothing does. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      this.halted = false;
      for (let entry = this.entries[0]; entry && !this.halted; entry = this.entries[0]) await this.attempt(entry);
    } finally {
      this.running = false;
    }
  }

  private async attempt(entry: Entry): Promise<void> {
    try {
      const answer = await this.around.send(...this.request(entry));
      this.failures = 0;
      this.remember(entry, answer);
      this.done(entry);
      this.listener.sent(entry, answer);
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem(0, String(error));
      if (problem.status === 401) {
        this.halted = true; // kept until somebody signs in and calls run() again
        this.listener.signedOut();
        return;
      }
      if (problem.passing) {
        const pause = PAUSES[Math.min(this.failures++, PAUSES.length - 1)] ?? 5000;
        this.listener.changed(this.entries.length, problem.status !== 0);
        await this.around.pause(pause);
        return;
      }
      this.failures = 0;
      this.done(entry);
      if (problem.current) this.versions.set(entry.item, problem.current.version);
      this.listener.refused(entry, problem);
    }
  }

  private request(entry: Entry): [string, unknown, string] {
    if (entry.type === 'decide') {
      // A second decision on the same item builds on the first, whose answer brought a newer version.
      const version = Math.max(entry.body.version, this.versions.get(entry.item) ?? 0);
      return ['decisions', { ...entry.body, version }, entry.key];
    }
    const event = 'event' in entry.of ? entry.of.event : this.events.get(entry.of.key);
    if (!event) throw new Problem(410, '');
    return [`decisions/${encodeURIComponent(event)}/undo`, {}, entry.key];
  }

  private remember(entry: Entry, answer: Decided): void {
    this.events.set(entry.key, answer.event.id);
    const oldest = this.events.size > REMEMBERED ? this.events.keys().next().value : undefined;
    if (oldest !== undefined) this.events.delete(oldest);
    if (answer.item) this.versions.set(answer.item.id, answer.item.version);
  }

  private done(entry: Entry): void {
    this.entries = this.entries.filter((other) => other.key !== entry.key);
    this.keep();
  }

  private keep(): void {
    this.around.storage.setItem(STORED, JSON.stringify(this.entries));
    this.listener.changed(this.entries.length, true);
  }
}
