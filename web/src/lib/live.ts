/** Server-sent events: what others decide, and how jobs get on. */
import { BASE } from './api';
import type { DecisionEvent, ItemRow, Job } from './types';

export interface Hearing {
  decision(event: DecisionEvent | null, item: ItemRow | null): void;
  queue(): void;
  job(job: Job): void;
  model(): void;
  /** The stream is there again after it was lost: something may have been missed. */
  again(): void;
  connected(yes: boolean): void;
}

export function readDecision(data: unknown): { event: DecisionEvent | null; item: ItemRow | null } {
  const record = data as { event?: DecisionEvent; item?: ItemRow | string };
  if (record.event) return { event: record.event, item: (record.item as ItemRow | undefined) ?? null };
  return { event: data as DecisionEvent, item: null };
}

export function listen(hearing: Hearing): () => void {
  let source: EventSource;
  let lost = false;
  let timer = 0;
  const on = (name: string, take: (data: unknown) => void): void => {
    source.addEventListener(name, (message: MessageEvent<string>) => {
      let data: unknown = null;
      try {
        data = JSON.parse(message.data);
      } catch {
        return;
      }
      take(data);
    });
  };
  const open = (): void => {
    source = new EventSource(`${BASE}/events`);
    source.onopen = () => {
      hearing.connected(true);
      if (lost) hearing.again();
      lost = false;
    };
    source.onerror = () => {
      lost = true;
      hearing.connected(false);
      // A refused connection closes the source for good; the browser only repairs broken ones.
      if (source.readyState === EventSource.CLOSED) {
        clearTimeout(timer);
        timer = window.setTimeout(open, 2000);
      }
    };
    on('decision', (data) => {
      const { event, item } = readDecision(data);
      hearing.decision(event, item);
    });
    on('queue', () => hearing.queue());
    on('job', (data) => hearing.job(data as Job));
    on('model', () => hearing.model());
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
