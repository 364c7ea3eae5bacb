import type {
  ConceptDetail, ConceptPage, DecisionPage, ItemDetail, ItemRow, Job, Me, ModelInfo, QueuePage, Sphere, TaxonomySummary,
  Upload,
} from './types';

export const BASE = '/api/v1';

/** An answer that says no. `status` is 0 where no answer came at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly body: Record<string, unknown> = {},
  ) {
    super(detail);
    this.name = 'Problem';
  }

  /** Will the same request probably succeed later? */
  get passing(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }

  /** Is the model still being loaded? */
  get loading(): boolean {
    return this.status === 503;
  }

  /** Of a decision that cannot be carried out. */
  get code(): string {
    return typeof this.body.code === 'string' ? this.body.code : '';
  }

  get current(): ItemRow | null {
    return (this.body.current as ItemRow | undefined) ?? null;
  }
}

export type Query = Record<string, string | number | null | undefined>;

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return `${BASE}/${path}${text ? `?${text}` : ''}`;
}

/** The answer, asked for again while the model is being loaded and somebody still wants it. */
export async function whenLoaded<T>(ask: () => Promise<T>, wanted: () => boolean, wait = 1500): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Problem && error.loading)) throw error;
      await new Promise((go) => setTimeout(go, wait));
      if (!wanted()) throw error;
    }
  }
}

async function answer<T>(path: string, init: RequestInit, query?: Query): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address(path, query), { credentials: 'same-origin', ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem(0, String(error));
  }
  if (!response.ok) {
    const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    const detail = typeof body.detail === 'string' ? body.detail : String(body.title ?? response.statusText);
    throw new Problem(response.status, detail, body);
  }
  return (await response.json()) as T;
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return answer<T>(path, { headers: { Accept: 'application/json' }, ...(signal ? { signal } : {}) }, query);
}

export function post<T>(path: string, body: unknown = {}, key?: string): Promise<T> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', Accept: 'application/json' };
  if (key) headers['Idempotency-Key'] = key;
  return answer<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

const id = encodeURIComponent;

export const api = {
  me: () => get<Me>('me'),
  signIn: (token: string) => post<unknown>('session', { token }),
  taxonomy: () => get<TaxonomySummary>('taxonomy'),
  concepts: (query: Query, signal?: AbortSignal) => get<ConceptPage>('concepts', query, signal),
  concept: (concept: string) => get<ConceptDetail>(`concepts/${id(concept)}`),
  queue: (query: Query, signal?: AbortSignal) => get<QueuePage>('queue', query, signal),
  item: (item: string) => get<ItemDetail>(`queue/${id(item)}`),
  assign: (item: string, to: string | null, version: number) =>
    post<ItemRow | { item: ItemRow }>(`queue/${id(item)}/assign`, { to, version }),
  bulkPreview: (threshold: number, signal?: AbortSignal) =>
    get<{ accepts: number; expected_right: number }>('decisions/bulk', { threshold }, signal),
  bulk: (threshold: number, key: string) => post<{ accepted: number }>('decisions/bulk', { threshold }, key),
  decisions: (query: Query) => get<DecisionPage>('decisions', query),
  precision: (at: number) => get<{ accepted: number; kept: number }>('decisions/precision', { at }),
  jobs: () => get<Job[] | { jobs: Job[] }>('jobs'),
  job: (job: string) => get<Job>(`jobs/${id(job)}`),
  startJob: (kind: string) => post<{ id: string }>('jobs', { kind }),
  cancelJob: (job: string) => post<unknown>(`jobs/${id(job)}/cancel`),
  model: () => get<ModelInfo>('model'),
  activate: (version: string) => post<unknown>('model/activate', { id: version }),
  sphere: (item: string, signal?: AbortSignal) => get<Sphere>('sphere', { item }, signal),
  upload: (name: string, content: string) => post<Upload>('imports', { name, content_base64: content }),
  importUpload: (upload: string, mapping: Record<string, string>) =>
    post<{ job: string }>(`imports/${id(upload)}`, { mapping }),
};
