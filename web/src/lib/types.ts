/** The documents of the service below /api/v1. */

export type ItemState = 'open' | 'accepted' | 'moved' | 'top' | 'same' | 'rejected' | 'later';
export type DecisionKind = 'accept' | 'move' | 'top' | 'same' | 'reject' | 'later' | 'insert' | 'comment' | 'edit';
export type Role = 'viewer' | 'curator' | 'admin';

export interface Me {
  name: string;
  role: Role;
}

export interface TaxonomySummary {
  name: string;
  concepts: number;
  edges: number;
  roots: number;
  depth: number;
  format: string;
  source: string;
  version: number | string;
  pending: number;
  decided: number;
}

export interface Named {
  id: string;
  name: string;
}

export interface ConceptRow extends Named {
  definition: string;
  children: number;
  path: string[];
  state: 'base' | 'new' | 'pending';
}

export interface ConceptPage {
  concepts: ConceptRow[];
  next: string | null;
}

export interface ConceptDetail extends Named {
  definition: string;
  synonyms: string[];
  parents: Named[];
  children: Named[];
  n_children: number;
  paths: string[][];
  siblings: Named[];
  state: 'base' | 'new' | 'pending';
  obsolete: boolean;
}

export type Values = Record<string, string | number | string[]>;

export interface Sentence {
  text: string;
  for: boolean;
  /** Which sentence it is, for other languages; empty in what an older service has stored. */
  code?: string;
  values?: Values;
}

export interface Suggestion extends Named {
  path: string[];
  probability: number;
  score: number;
  cosine: number;
  gate: boolean;
  siblings: string[];
  reasons: Record<string, number>;
  definition?: string;
  sentences?: Sentence[];
}

export interface Suggestions {
  none_probability: number;
  parents: string[];
  already: { id: string; name: string; how: string }[];
  suggestions: Suggestion[];
}

export interface Best extends Named {
  path: string[];
  probability: number;
}

export interface ItemRow {
  id: string;
  name: string;
  state: ItemState;
  best: Best | null;
  none_probability: number | null;
  assignee: string | null;
  version: number;
  decided_by: string | null;
  decided_at: string | null;
}

export type Counts = Record<ItemState, number>;

export interface QueuePage {
  items: ItemRow[];
  next: string | null;
  counts: Counts;
}

export interface Insertion {
  parent: Named;
  children: (Named & { probability: number })[];
}

export interface ItemDetail extends ItemRow {
  concept: { name: string; definition: string; synonyms: string[]; own?: Record<string, string> };
  suggestions: Suggestions | null;
  insertions: Insertion[];
  history: DecisionEvent[];
}

export interface DecisionEvent {
  id: string;
  kind: string;
  item: string;
  name: string;
  parents: Named[];
  by: string;
  at: string;
  note: string;
  probability: number | null;
  model: string | null;
  undone_by: string | null;
  undoes: string | null;
}

export interface DecisionPage {
  decisions: DecisionEvent[];
  next: string | null;
}

export interface DecisionBody {
  item: string;
  kind: DecisionKind;
  parents: string[];
  children?: string[];
  changes?: Changes;
  version: number;
  note: string;
}

export interface Changes {
  name?: string;
  definition?: string;
  synonyms?: string[];
}

export interface Decided {
  event: DecisionEvent;
  item: ItemRow | null;
  next?: string | null;
}

export interface Job {
  id: string;
  kind: string;
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  progress: { done: number; total: number; what: string } | null;
  result: Record<string, unknown> | null;
  error: string | null;
}

export type Figures = Record<string, number | null>;

export interface ModelVersion {
  id: string;
  made: string;
  /** Numbers by name; of a retrained version its own below `new`, and how it compares with the one it came from. */
  figures: Record<string, unknown>;
  active: boolean;
}

export interface Bin {
  from: number;
  to: number;
  mean: number;
  right: number;
  count: number;
}

export interface ModelInfo {
  name: string;
  version: string;
  trained_on: { concepts: number; edges: number; seed_hash: string };
  figures: Figures;
  calibration: Bin[];
  versions: ModelVersion[];
}

export interface SpherePoint extends Named {
  x: number;
  y: number;
  z: number;
  shell: number;
  kind: 'candidate' | 'neighbour' | 'taxonomy';
  cosine: number;
  gate: boolean;
}

export interface Sphere {
  query: { x: number; y: number; z: number; shell: number };
  points: SpherePoint[];
  shells: number[];
}

export interface Upload {
  upload: string;
  columns: string[];
  rows: (Record<string, unknown> | unknown[])[];
  mapping: Record<string, string>;
  count: number;
}
