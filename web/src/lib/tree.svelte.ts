/** A taxonomy opened as far as somebody has opened it: children are asked for when their parent opens, page by page. */
import { api } from './api';
import type { ConceptDetail, ConceptPage, ConceptRow, Named } from './types';

interface Node {
  id: string;
  name: string;
  count: number;
  state: ConceptRow['state'];
  children: string[] | null;
  next: string | null;
  loading: Promise<void> | null;
}

export interface TreeRow {
  key: string;
  kind: 'concept' | 'ghost' | 'more';
  id: string;
  name: string;
  depth: number;
  count: number;
  open: boolean;
  state: ConceptRow['state'];
  parentKey: string | null;
}

export interface Source {
  page(parent: string, cursor: string | null, limit: number): Promise<ConceptPage>;
  concept(id: string): Promise<ConceptDetail>;
}

const ROOT = '';
const BETWEEN = '\u0000';
const PAGE = 200;
const DEEPEST = 60;

const service: Source = {
  page: (parent, cursor, limit) => api.concepts({ parent, cursor, limit }),
  concept: api.concept,
};

export class TreeModel {
  rows = $state.raw<TreeRow[]>([]);
  private nodes = new Map<string, Node>([[ROOT, this.node(ROOT, '', 0, 'base')]]);
  private parentOf = new Map<string, string>();
  private open = new Set<string>([ROOT]);
  private passing = new Set<string>();
  private ghost: { id: string; name: string; parents: Set<string> } | null = null;

  constructor(private readonly source: Source = service) {}

  async start(): Promise<void> {
    await this.load(ROOT);
    this.flatten();
  }

  async toggle(row: TreeRow): Promise<void> {
    this.passing.delete(row.key);
    if (this.open.has(row.key)) this.open.delete(row.key);
    else {
      this.open.add(row.key);
      await this.load(row.id);
    }
    this.flatten();
  }

  /** Open the outermost concepts, so that there is something to begin with. */
  async openRoots(): Promise<void> {
    const roots = this.rows.filter((row) => row.depth === 0 && row.count > 0).slice(0, 12);
    for (const row of roots) this.open.add(row.key);
    await Promise.all(roots.map((row) => this.load(row.id)));
    this.flatten();
  }

  /** Load the next page of children, for a row of kind `more`. */
  async more(row: TreeRow): Promise<void> {
    await this.load(row.id, true);
    this.flatten();
  }

  /** Where a new concept would hang: shown as a row of its own below each of these parents, and nowhere as pending. */
  suppose(concept: Named, parents: string[]): void {
    this.ghost = parents.length > 0 ? { id: concept.id, name: concept.name, parents: new Set(parents) } : null;
    this.flatten();
  }

  /**
   * Open everything above a concept (and the concept itself); the place of its row.
   *
   * With `only`, what an earlier call has opened is closed again, unless somebody has opened or closed it by hand: who
   * goes from one new concept to the next sees the surroundings of each, not of all.
   */
  async reveal(id: string, opened = false, only = false): Promise<number> {
    const line = await this.lineTo(id);
    await Promise.all([ROOT, ...line.slice(0, -1), ...(opened ? [id] : [])].map((above) => this.load(above)));
    for (const [step, child] of line.entries()) await this.pin(line[step - 1] ?? ROOT, child);
    const keys = line.map((_, step) => line.slice(0, step + 1).join(BETWEEN));
    const wanted = opened ? keys : keys.slice(0, -1);
    if (only) for (const key of this.passing) this.open.delete(key);
    this.passing = new Set(only ? wanted.filter((key) => !this.open.has(key)) : []);
    for (const key of wanted) this.open.add(key);
    this.flatten();
    return this.rows.findIndex((row) => row.key === keys.at(-1));
  }

  /** Ask again for the children of these concepts (or of every open one), because somebody changed something. */
  async refresh(ids: string[]): Promise<void> {
    const open = [...this.open].map((key) => key.split(BETWEEN).at(-1) ?? ROOT);
    const affected = ids.length > 0 ? ids : [...new Set(open)].slice(0, 30);
    await Promise.all(
      affected.map(async (id) => {
        const node = this.nodes.get(id);
        if (!node?.children) return;
        const page = await this.source.page(id, null, Math.max(PAGE, Math.min(node.children.length + 20, 500)));
        const kept = node.children.slice(page.concepts.length);
        node.children = [];
        this.take(node, page);
        for (const child of kept) if (page.next !== null && !node.children.includes(child)) node.children.push(child);
        node.count = Math.max(node.count, node.children.length);
      }),
    );
    this.flatten();
  }

  private node(id: string, name: string, count: number, state: ConceptRow['state']): Node {
    return { id, name, count, state, children: null, next: null, loading: null };
  }

  private async lineTo(id: string): Promise<string[]> {
    const line = [id];
    for (let at = id; line.length < DEEPEST; ) {
      let parent = this.parentOf.get(at);
      if (parent === undefined) {
        const detail = await this.source.concept(at);
        if (!this.nodes.has(at)) this.nodes.set(at, this.node(at, detail.name, detail.n_children, detail.state));
        parent = detail.parents[0]?.id ?? ROOT;
        this.parentOf.set(at, parent);
      }
      if (parent === ROOT || line.includes(parent)) return line;
      line.unshift(parent);
      at = parent;
    }
    return line;
  }

  /** A child that is not among the pages loaded so far is put first, so that it can be shown at once. */
  private async pin(parent: string, child: string): Promise<void> {
    const children = this.nodes.get(parent)?.children;
    if (!children || children.includes(child)) return;
    if (!this.nodes.has(child)) {
      const detail = await this.source.concept(child);
      this.nodes.set(child, this.node(child, detail.name, detail.n_children, detail.state));
    }
    children.unshift(child);
  }

  private load(id: string, further = false): Promise<void> {
    const node = this.nodes.get(id);
    if (!node) return Promise.resolve();
    if (node.loading) return node.loading;
    if (node.children && !(further && node.next)) return Promise.resolve();
    node.loading = this.source
      .page(id, node.children ? node.next : null, PAGE)
      .then((page) => {
        node.children ??= [];
        this.take(node, page);
      })
      .finally(() => (node.loading = null));
    return node.loading;
  }

  private take(node: Node, page: ConceptPage): void {
    const children = node.children ?? [];
    const there = new Set(children);
    for (const row of page.concepts) {
      const child = this.nodes.get(row.id);
      if (child) Object.assign(child, { name: row.name, count: row.children, state: row.state });
      else this.nodes.set(row.id, this.node(row.id, row.name, row.children, row.state));
      if (!this.parentOf.has(row.id)) this.parentOf.set(row.id, node.id);
      if (!there.has(row.id)) children.push(row.id);
    }
    node.children = children;
    node.next = page.next;
  }

  private flatten(): void {
    const rows: TreeRow[] = [];
    const visit = (id: string, key: string, depth: number): void => {
      const node = this.nodes.get(id);
      const parentKey = key === ROOT ? null : key;
      if (this.ghost?.parents.has(id)) {
        const name = this.ghost.name;
        rows.push({ key: `${key}${BETWEEN}?`, kind: 'ghost', id: '', name, depth, count: 0, open: false, state: 'new', parentKey });
      }
      for (const child of node?.children ?? []) {
        const below = this.nodes.get(child);
        if (!below || (below.state === 'pending' && child === this.ghost?.id)) continue;
        const own = key === ROOT ? child : `${key}${BETWEEN}${child}`;
        const ghostly = this.ghost?.parents.has(child) ?? false;
        const open = this.open.has(own) && (below.count > 0 || ghostly);
        rows.push({ key: own, kind: 'concept', id: child, name: below.name, depth, count: below.count, open, state: below.state, parentKey });
        if (open && depth < DEEPEST) visit(child, own, depth + 1);
        else if (ghostly && this.ghost) {
          rows.push({ key: `${own}${BETWEEN}?`, kind: 'ghost', id: '', name: this.ghost.name, depth: depth + 1, count: 0, open: false, state: 'new', parentKey: own });
        }
      }
      if (node?.next) {
        rows.push({ key: `${key}${BETWEEN}…`, kind: 'more', id, name: '', depth, count: 0, open: false, state: 'base', parentKey });
      }
    };
    visit(ROOT, ROOT, 0);
    this.rows = rows;
  }
}
