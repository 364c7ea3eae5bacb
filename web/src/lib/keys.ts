/** Which action a key press means. Typing into a field never triggers one, except Escape. */

export interface Press {
  key: string;
  code: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  target: EventTarget | null;
}

const FIELDS = 'input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable]';

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(FIELDS);
}

/** The name of a press: `a`, `shift+2` (by position, whatever the layout prints there), `ArrowLeft`; '' for none. */
export function nameOf(press: Press): string {
  if (press.ctrlKey || press.metaKey || press.altKey) return '';
  if (isTyping(press.target) && press.key !== 'Escape') return '';
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(press.code)?.[1];
  if (digit !== undefined && press.shiftKey && press.key !== '/' && press.key !== '?') return `shift+${digit}`;
  return press.key.length === 1 ? press.key.toLowerCase() : press.key;
}

export type Bindings = Record<string, () => void>;

/** Bindings of the view on screen come before those of the whole page. */
export class Keyboard {
  private layers: Bindings[] = [];
  private prefix = '';

  use(bindings: Bindings): () => void {
    this.layers.push(bindings);
    return () => {
      this.layers = this.layers.filter((layer) => layer !== bindings);
    };
  }

  handle(event: Press & { preventDefault(): void; defaultPrevented: boolean }): boolean {
    if (event.defaultPrevented) return false;
    const name = nameOf(event);
    if (!name) return false;
    const full = this.prefix ? `${this.prefix} ${name}` : name;
    this.prefix = '';
    for (const layer of this.layers.toReversed()) {
      const action = layer[full];
      if (action) {
        event.preventDefault();
        action();
        return true;
      }
    }
    if (full === 'g') this.prefix = 'g';
    return false;
  }
}

export const keyboard = new Keyboard();
