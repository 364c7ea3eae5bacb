/** What is about to be decided for one item: chosen parents, ticked children, a note. */
import { readDraft, writeDraft } from './drafts';
import type { DecisionKind, Insertion, ItemDetail, Named } from './types';

export interface Decision {
  kind: DecisionKind;
  parents: string[];
  children?: string[];
}

const FAIRLY_SURE = 0.3;

export class Choice {
  chosen = $state.raw<Named[]>([]);
  none = $state(false);
  ticked = $state.raw<string[]>([]);
  note = $state('');

  constructor(readonly item: ItemDetail) {
    const draft = readDraft(item.id);
    this.chosen = draft.parents ?? this.suggested;
    this.ticked = draft.children ?? [];
    this.note = draft.note ?? '';
  }

  /** What is chosen at first: the best parent, and others that the model would attach with it and is fairly sure of. */
  get suggested(): Named[] {
    const all = this.item.suggestions?.suggestions ?? [];
    const sure = (probability: number): boolean => probability >= FAIRLY_SURE;
    return all
      .filter((suggestion, n) => n === 0 || (this.item.suggestions?.parents.includes(suggestion.id) && sure(suggestion.probability)))
      .map(({ id, name }) => ({ id, name }));
  }

  /** Chosen parents that are not among the candidates. */
  get elsewhere(): Named[] {
    const listed = new Set(this.item.suggestions?.suggestions.map((suggestion) => suggestion.id));
    return this.chosen.filter((parent) => !listed.has(parent.id));
  }

  get insertion(): Insertion | null {
    const [parent, ...others] = this.chosen;
    if (!parent || others.length > 0 || this.none) return null;
    const found = this.item.insertions.find((insertion) => insertion.parent.id === parent.id);
    return found && found.children.length > 0 ? found : null;
  }

  /** The decision that “accept” makes now; null where nothing is chosen. */
  get decision(): Decision | null {
    if (this.none) return { kind: 'reject', parents: [] };
    const parents = this.chosen.map((parent) => parent.id);
    if (parents.length === 0) return null;
    const listed = new Set(this.insertion?.children.map((child) => child.id));
    const children = this.ticked.filter((child) => listed.has(child));
    if (children.length > 0) return { kind: 'insert', parents, children };
    const best = this.item.suggestions?.suggestions[0]?.id;
    return { kind: best !== undefined && parents.includes(best) ? 'accept' : 'move', parents };
  }

  has(id: string): boolean {
    return !this.none && this.chosen.some((parent) => parent.id === id);
  }

  choose(parent: Named): void {
    this.none = false;
    this.chosen = [{ id: parent.id, name: parent.name }];
    this.ticked = [];
    this.keep();
  }

  toggle(parent: Named): void {
    const without = this.chosen.filter((other) => other.id !== parent.id);
    const was = without.length < this.chosen.length && !this.none;
    this.chosen = was ? without : [...(this.none ? [] : this.chosen), { id: parent.id, name: parent.name }];
    this.none = false;
    this.keep();
  }

  chooseNone(): void {
    this.none = true;
    this.ticked = [];
  }

  tick(child: string): void {
    this.ticked = this.ticked.includes(child) ? this.ticked.filter((other) => other !== child) : [...this.ticked, child];
    this.keep();
  }

  /** Tick what more probably moves than stays, or nothing where something is ticked. */
  tickLikely(): void {
    if (this.ticked.length > 0) this.ticked = [];
    else {
      const children = this.insertion?.children ?? [];
      const likely = children.filter((child) => child.probability >= 0.5);
      this.ticked = (likely.length > 0 ? likely : children).map((child) => child.id);
    }
    this.keep();
  }

  write(note: string): void {
    this.note = note;
    this.keep();
  }

  private keep(): void {
    const same = this.chosen.map((p) => p.id).join() === this.suggested.map((p) => p.id).join();
    writeDraft(this.item.id, {
      ...readDraft(this.item.id),
      ...(same ? { parents: undefined as never } : { parents: this.chosen }),
      ...(this.ticked.length > 0 ? { children: this.ticked } : { children: undefined as never }),
      note: this.note,
    });
  }
}
